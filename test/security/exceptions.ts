// The routes without a token, each with its reason. Reviewed: a route that is neither here nor in routes.ts fails the tests.

export const openRoutes: Record<string, string> = {
  'GET /healthz': 'Supervisors and load balancers have no token; it says one word.',
  'GET /readyz': 'As above; it names parts of the control plane, and whether they answer.',
  'GET /docs': 'The reference, the same for all.',
  'GET /v1/openapi.json': 'The same, for programs.',
  'GET /login': 'A form without anything in it but the code that its reader brought.',
  'POST /login': 'The form brings a token of its own, and is taken from our own page only.',
  'GET /login/oidc': 'Leads to the identity provider, with what its answer is checked against. Stores nothing.',
  'GET /login/oidc/callback': 'Only what the provider has answered to this very browser counts, once.',
  'GET /v1/login/methods': 'The name of the identity provider, for the sign-in page.',
  'POST /v1/login/mail':
    'The same answer for every address; the link goes to its mail server, and works in the requesting browser only. Bounded.',
  'POST /login/mail': 'The same, from our own page only.',
  'GET /login/mail/link': 'A form, the same for all: it reads nothing, and uses no link up.',
  'POST /login/mail/link':
    'The link and the cookie of the browser that requested it are the secrets; taken once, from our own page only.',
  'POST /v1/login/oidc/token': 'The sealed code and the verifier of the page that began are the secret, for a minute.',
  'POST /v1/login/device':
    'The caller has not signed in yet. Bounded for all together, sealed, forgotten after ten minutes.',
  'POST /v1/approval-answers/{webhook}':
    'The signature by the secret of the webhook says who asks; its id belongs to one request, and its time to five minutes.',
  'GET /v1/agent/program/{sha256}':
    'The agent, which is public, for instances that have nothing yet; by what is in it.',
  'POST /v1/login/device/token': 'The device code is the secret: 32 random bytes that only the device has.',
};

/** The uploaded object is the caller's own, whatever another workspace has under the same name. */
export const ownWhateverTheName = [
  'PUT /v1/environments/{environment}',
  'PUT /v1/budgets/{budget}',
  'PUT /v1/users/{name}',
  'PUT /v1/package-files/{sha256}',
  'PUT /v1/file-blobs/{sha256}',
  'POST /v1/filestores/{name}/files',
];
