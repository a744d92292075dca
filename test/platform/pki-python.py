"""One mutual TLS handshake in memory with Python's ssl, as strict as Python 3.13 is by default.

argv: the directory that holds {server,client}.{crt,key} and {server,client}-trusts.pem. Prints "accepted", or the refusing side and
its reason.
"""

import pathlib
import ssl
import sys

directory = pathlib.Path(sys.argv[1])


def context(purpose: ssl.Purpose, side: str) -> ssl.SSLContext:
    made = ssl.create_default_context(purpose, cafile=str(directory / f"{side}-trusts.pem"))
    made.verify_mode = ssl.CERT_REQUIRED
    made.verify_flags |= ssl.VERIFY_X509_STRICT
    made.load_cert_chain(directory / f"{side}.crt", directory / f"{side}.key")
    return made


to_client, to_server = ssl.MemoryBIO(), ssl.MemoryBIO()
server = context(ssl.Purpose.CLIENT_AUTH, "server").wrap_bio(to_server, to_client, server_side=True)
client = context(ssl.Purpose.SERVER_AUTH, "client").wrap_bio(to_client, to_server, server_hostname="127.0.0.1")

done: set[str] = set()
for _ in range(10):
    for name, side in (("client", client), ("server", server)):
        try:
            side.do_handshake()
            done.add(name)
        except ssl.SSLWantReadError:
            pass
        except ssl.SSLError as error:
            sys.exit(f"{name} refused: {error}")
print("accepted" if done == {"client", "server"} else "stuck")
