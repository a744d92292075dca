// The startup script of an instance: it downloads the agent, verified by its hash, and starts it as a service. The agent's boot
// data is in the metadata key `ropewalk-boot`. Google runs the script at every boot.
import type { Architecture } from '../../domain/offers/offer.ts';
import { agentSetup } from '../agent-setup.ts';
import type { AgentDownload } from '../agent-setup.ts';

export const renderStartupScript = (download: AgentDownload, architecture: Architecture): string =>
  `#!/bin/sh\n${agentSetup(download, architecture, 'gcp')}`;
