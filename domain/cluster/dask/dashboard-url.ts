// The dashboard URLs of clusters. They never share the API's origin, because a cluster's users control the scripts that run there.

/** Placeholder in ROPEWALK_DASHBOARD_URL for a cluster's number; it gives each cluster its own origin. */
export const clusterPlaceholder = '{cluster}';

/** The origin of one cluster's dashboard, e.g. `https://cluster-7.dashboards.example.com`. `url` has been validated. */
export const dashboardOrigin = (url: string, cluster: number): string =>
  new URL(url.replace(clusterPlaceholder, String(cluster))).origin;

/** Without a placeholder, the dashboards of all clusters share one origin. */
export const hasOriginPerCluster = (url: string): boolean => url.includes(clusterPlaceholder);
