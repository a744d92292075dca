// Where browsers reach the dashboards of clusters. Never the API's origin: a cluster's users decide what scripts run there.

/** In ROPEWALK_DASHBOARD_URL: replaced by a cluster's number, so that each cluster has an origin of its own. */
export const clusterPlaceholder = '{cluster}';

/** The origin of one cluster's dashboard, e.g. `https://cluster-7.dashboards.example.com`. `url` has been validated. */
export const dashboardOrigin = (url: string, cluster: number): string =>
  new URL(url.replace(clusterPlaceholder, String(cluster))).origin;

/** Without a placeholder, the dashboards of all clusters share one origin. */
export const hasOriginPerCluster = (url: string): boolean => url.includes(clusterPlaceholder);
