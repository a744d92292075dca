"""A Dask client that a test drives: each line on standard input is JSON {id, code}; the code leaves its answer in `result`."""

import json
import sys
import traceback

import distributed


def security(files):
    return distributed.Security(
        tls_ca_file=files["caFile"],
        tls_client_cert=files["certFile"],
        tls_client_key=files["keyFile"],
        require_encryption=True,
    )


def main():
    address, files = sys.argv[1], json.loads(sys.argv[2])
    scope = {"distributed": distributed, "address": address, "security": security}
    scope["client"] = distributed.Client(address, security=security(files), timeout=20)
    print(json.dumps({"id": 0, "result": "ready"}), flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        try:
            scope["result"] = None
            exec(request["code"], scope)
            print(json.dumps({"id": request["id"], "result": scope["result"]}), flush=True)
        except Exception:
            print(json.dumps({"id": request["id"], "error": traceback.format_exc()}), flush=True)


if __name__ == "__main__":
    main()
