// Images: Google's public ones, which are readable and usable by everyone, and those of the project.
import { notFound } from './gcp-error.ts';
import type { Need } from './needs.ts';
import type { EmulatedProject } from './project.ts';
import type { MachineType } from './types.ts';

export interface Image {
  name: string;
  family: string | null;
  architecture: MachineType['architecture'];
  status: 'READY' | 'PENDING' | 'FAILED';
  deprecated: 'DEPRECATED' | 'OBSOLETE' | null;
}

const publicProject = 'ubuntu-os-cloud';
const publicImages: Image[] = (['X86_64', 'ARM64'] as const).map((architecture): Image => {
  const suffix = architecture === 'ARM64' ? 'arm64' : 'amd64';
  return {
    name: `ubuntu-2404-noble-${suffix}-v20261105`,
    family: `ubuntu-2404-lts-${suffix}`,
    ...{ architecture, status: 'READY', deprecated: null },
  };
});

/**
 * The image that `projects/P/global/images/[family/]NAME` names. A family names an image that is ready and not deprecated.
 *
 * @throws GcpError 404
 */
export function imageNamed(project: EmulatedProject, path: string): Image {
  const [, of, isFamily, name = ''] = /^projects\/([^/]+)\/global\/images\/(family\/)?([^/]+)$/.exec(path) ?? [];
  const all = of === publicProject ? publicImages : of === project.id ? [...project.images.values()] : [];
  const found = all.findLast((image) =>
    isFamily === undefined
      ? image.name === name
      : image.family === name && image.status === 'READY' && image.deprecated === null,
  );
  if (found === undefined) throw notFound(path);
  return found;
}

export interface ImageRoute {
  name: string;
  needs: Need[];
  run: () => object;
}

/** `path`: after `/compute/v1/`. Null for paths other than images that this caller may know of. */
export function imageRoute(project: EmulatedProject, method: string, path: string): ImageRoute | null {
  const [, of, isFamily] = /^projects\/([^/]+)\/global\/images\/(family\/)?[^/]+$/.exec(path) ?? [];
  if (method !== 'GET' || (of !== project.id && of !== publicProject)) return null;
  const permission = isFamily === undefined ? 'compute.images.get' : 'compute.images.getFromFamily';
  return {
    name: isFamily === undefined ? 'images.get' : 'images.getFromFamily',
    needs: of === publicProject ? [] : [{ permission, resource: 'project' }],
    run: () => shown(of, imageNamed(project, path)),
  };
}

const shown = (project: string, { name, family, architecture, status, deprecated }: Image): object => ({
  ...{ kind: 'compute#image', id: '1234567890123456789', name, status, architecture, diskSizeGb: '10' },
  ...(family === null ? {} : { family }),
  ...(deprecated === null ? {} : { deprecated: { state: deprecated } }),
  selfLink: `https://www.googleapis.com/compute/v1/projects/${project}/global/images/${name}`,
});
