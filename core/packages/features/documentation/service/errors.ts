import { type ErrorBody, errorTable, type ErrorWord } from '@dispatch/contract'

/** Whether anything may have been sent when a request ends so. */
type Sent = 'nothing' | 'unknown' | 'part' | 'vendor refused' | 'later'

const sent: Readonly<Record<Sent, string>> = {
  nothing: 'Nothing was sent, and nothing is charged.',
  unknown: 'It may have been sent. Under another idempotency key it may be sent twice.',
  part: 'The first steps were sent and are charged; the failed step and those behind it were not.',
  'vendor refused': 'The vendor was asked, and has not accepted it. Nothing is charged.',
  later: 'The dispatch goes on by itself.'
}

/** What a client does about each error. */
const advice: Readonly<Record<ErrorWord, readonly [sent: Sent, todo: string]>> = {
  validation_error: ['nothing', 'Correct each place that `details` names: `path` is a JSON pointer into the body, or a parameter.'],
  unsupported_version: ['nothing', 'Send a version that there is in `X-API-Version`, or leave the header out.'],
  authorization_pending: ['nothing', 'Ask again after `interval` seconds, until the person at the console has decided.'],
  slow_down: ['nothing', 'Wait five seconds longer before each further question (RFC 8628, 3.5).'],
  access_denied: ['nothing', 'Ask the person why. `dispatch login` begins again.'],
  expired_token: ['nothing', 'Begin again with `dispatch login`, or `POST /auth/device`: a code counts for ten minutes and one key.'],
  unauthorized: ['nothing',
    'Send a key as `Authorization: Bearer dk_live_…`. A key that was revoked or has expired is replaced by a new one.'],
  fresh_proof_required: ['nothing',
    'Log in again with `POST /auth`, and repeat the request with the new token. No API key has such a proof.'],
  insufficient_credits: ['nothing', 'Ask the operators of the service for credits, then send the request again.'],
  budget_exceeded: ['nothing',
    'Wait for the next month (UTC), or ask an admin of the company for a higher budget: `GET /api/v1/budgets` has it.'],
  forbidden: ['nothing', 'The message says what is missing: a scope of the key, a service, a role, a permitted address.'],
  approval_required: ['nothing',
    'Send it as a request of its own: it answers 202 and waits until somebody else of the company has approved it.'],
  https_required: ['nothing', 'Send the request to the `https://` address. What went over plain HTTP was not secret: make a new key.'],
  template_not_found: ['nothing', 'Look at `GET /api/v1/templates`: ids of templates differ between companies and installations.'],
  not_found: ['nothing',
    'Look at the path and the id. What belongs to another company, or to services that you may not use, is not found either.'],
  unknown_service: ['nothing', 'The message names all services. `v1` is no part of a path that dispatches.'],
  unknown_chain: ['nothing', 'The message says which service cannot follow which. [Chains](/docs/chains) have two to four services.'],
  document_expired: ['part', 'The document was kept for 30 days. Send a new request for the steps that remain.'],
  idempotency_in_progress: ['later', 'Repeat the same request after `Retry-After`: you get the answer of the first one.'],
  conflict: ['nothing', 'Read the resource again: the message says which state it has. Somebody else may have changed it.'],
  consent_required: ['nothing', 'Repeat the installation with the hosts and services of `details`, if they are right.'],
  payload_too_large: ['nothing',
    'The message has the limit. A file of 50 MiB at most can go in a form of its own ([uploads](/docs/services/upload)).'],
  unsupported_media_type: ['nothing', 'Send JSON with `Content-Type: application/json`, or the type that the message names.'],
  expectation_failed: ['nothing', 'Send from an address that the configuration allows, to at least one recipient.'],
  validation_failed: ['nothing', 'Correct what `details` name. `POST …/validate` finds the same problems without a dispatch.'],
  provider_error: ['vendor refused', 'The vendor\'s code and text are in `details`. Correct the request, or choose another provider.'],
  configuration_missing: ['nothing',
    'Choose a provider and fill in its settings in the console, under “Providers”, or with `PUT /api/v1/company/providers/{code}`.'],
  authentication_error: ['vendor refused', 'Renew the credentials of the provider in its settings. Until then each dispatch by it fails.'],
  idempotency_key_reused: ['nothing', 'Use a new key for a new request, or repeat the first request without a change.'],
  suppressed: ['nothing',
    'The recipient does not want it, or it came back. A company takes somebody off its list in the console, under “Suppressions”.'],
  partially_dispatched: ['part',
    'Ask for `POST /api/v1/dispatches/{id}/retry`: it goes on at the failed step, whose fields its body may correct.'],
  rate_limited: ['nothing', 'Wait for as many seconds as `Retry-After` says. `RateLimit` tells in each answer how much is left.'],
  distant_service_error: ['vendor refused',
    'The message has the code of the mail server. A code that begins with 4 may go away by itself.'],
  document_damaged: ['nothing', 'Tell the operators of the service, with the `requestId`. Send a new request for a new document.'],
  internal_error: ['unknown', 'Repeat the request under the same idempotency key. If it stays, tell the operators, with the `requestId`.'],
  service_unavailable: ['nothing', 'Repeat the request after `Retry-After`, under the same idempotency key.'],
  provider_unavailable: ['nothing', 'Repeat the request after `Retry-After`. A queued dispatch is tried again by itself.'],
  timeout: ['later', 'Read `GET /api/v1/dispatches/{id}` later, or repeat the request under the same idempotency key.'],
  recording_unknown: ['later', 'Repeat the request under the same idempotency key, or read the dispatch after a minute.'],
  outcome_unknown: ['unknown',
    'Do not send it again under another key. The service asks the vendor what happened; follow the dispatch, or wait for the callback.']
}

type ErrorPage = { address: string, title: string, markdown: string, listed: boolean }

/** A page for each error of the table, behind a list of them. */
export function errorPages (): ErrorPage[] {
  const words = Object.keys(errorTable) as ErrorWord[]
  const rows = words.map((word) =>
    `| [\`${word}\`](/docs/errors/${word}) | ${String(errorTable[word].status)} | ${errorTable[word].when} |`
  )
  const list = {
    address: 'errors',
    title: 'Errors',
    markdown: `# Errors

Each error is JSON with the word \`error\`, which programs compare, a \`message\` for people, and the \`requestId\` by which the operators of
the service find it. Where several things are wrong, \`details\` has all of them, each with its place. From version 1.1.0 on, \`docs\` is the
address of the page of the error.

| error | status | when |
|---|---|---|
${rows.join('\n')}
`,
    listed: true
  }
  return [list, ...words.map((word) => ({ address: `errors/${word}`, title: word, markdown: pageOf(word), listed: false }))]
}

function pageOf (word: ErrorWord): string {
  const row = errorTable[word]
  const [was, todo] = advice[word]
  const example: ErrorBody = { error: word, message: row.when, requestId: '8fd5f189-aaf0-4182-aeba-7bbaa0ea7d9b' }
  const since = 'since' in row ? `\n\nThe word is new in version ${row.since} of the API; before, it was \`${row.before}\`.` : ''
  const retry = 'retryAfter' in row
    ? `\n\n\`Retry-After\` says when to come again: after ${String(row.retryAfter)} s unless something else is known.`
    : ''
  return `# \`${word}\`

Status ${String(row.status)}. ${row.when}${since}

**Was anything sent?** ${sent[was]}

**What to do.** ${todo}${retry}

\`\`\`json
${JSON.stringify(example, null, 2)}
\`\`\`

[All errors](/docs/errors) · [Nothing is sent twice](/docs/nothing-twice)
`
}
