"""Names at the top of Coiled's package that have another name here, or do not exist: the error names the
alternative."""

from __future__ import annotations

from collections.abc import Mapping

#: The alternative, by Coiled's name.
INSTEAD: Mapping[str, str] = {
    "AWSOptions": 'give Cluster(backend_options={"region_name": ...}) a plain dictionary',
    "BackendOptions": 'give Cluster(backend_options={"region_name": ...}) a plain dictionary',
    "Cloud": "there is no object for the connection: give api_url and token to Cluster and the functions, or run `ropewalk login` once",
    "FirewallOptions": 'give Cluster(backend_options={"firewall": ...}) a plain dictionary, or use its arguments allow_ingress_from and open_ports',
    "GCPOptions": 'give Cluster(backend_options={"region_name": ...}) a plain dictionary',
    "better_cluster_logs": "use ropewalk.cluster_logs(number), or Cluster.get_logs with filter and since",
    "create_api_token": "use `ropewalk token create` of a checkout",
    "create_cluster": "use ropewalk.Cluster(name, shutdown_on_close=False)",
    "create_package_sync_software_env": "use ropewalk.Cluster(), which synchronizes packages by itself, or ropewalk.create_software_environment",
    "diagnostics": "use `ropewalk whoami`, and `ropewalk cluster why NUMBER`; an operator has `ropewalk doctor`",
    "get_billing_activity": 'use ropewalk.costs(by="cluster", since="30 days"), and ropewalk.cluster_costs(number)',
    "get_cluster_from_node": "in a task, distributed.get_client() is a client of the cluster that runs it",
    "get_dask_client_from_batch_node": "in a task of a Dask cluster use distributed.get_client(); a batch job has no Dask cluster of its own",
    "inspect": "use ropewalk.get_software_info(name)",
    "list_api_tokens": "use `ropewalk token list` of a checkout",
    "list_gpu_types": "use ropewalk.list_instance_types(min_gpus=1), whose items have gpu_name",
    "list_local_versions": "use Client.get_versions(check=True) of distributed",
    "list_performance_reports": "use distributed.performance_report, which writes a file of yours",
    "list_user_information": "use `ropewalk whoami`, and ropewalk.list_core_usage()",
    "login": "run `ropewalk login` in a terminal, or set ROPEWALK_API_URL and ROPEWALK_TOKEN",
    "performance_report": "use distributed.performance_report, which writes a file of yours",
    "revoke_all_api_tokens": "use `ropewalk token list` and `ropewalk token revoke` of a checkout",
    "revoke_api_token": "use `ropewalk token revoke` of a checkout",
    "run": "use ropewalk.batch.run for commands, and ropewalk.function for functions",
}


def missing(name: str) -> AttributeError:
    """The error for a missing name of the module `ropewalk`. For one of Coiled's names it states the alternative."""
    instead = INSTEAD.get(name)
    hint = "" if instead is None else f": {instead}"
    return AttributeError(f"module 'ropewalk' has no attribute {name!r}{hint}", name=name)
