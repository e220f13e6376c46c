import t from 'tap'
import { has } from '../../../../test/support/matching.ts'
import { DispatchError, errorTable, type ErrorWord, refusal } from '../errors.ts'

await t.test('every error has the status that the table gives it', (t) => {
  for (const word of Object.keys(errorTable) as ErrorWord[]) t.equal(new DispatchError(word, 'x').status, errorTable[word].status, word)
  t.end()
})

await t.test('the words and statuses are those of the specification and the contract', (t) => {
  const statuses = Object.groupBy(Object.keys(errorTable) as ErrorWord[], (word) => errorTable[word].status)
  t.strictSame(Object.fromEntries(Object.entries(statuses).map(([status, words]) => [status, words.toSorted()])), {
    400: ['access_denied', 'authorization_pending', 'expired_token', 'slow_down', 'unsupported_version', 'validation_error'],
    401: ['fresh_proof_required', 'unauthorized'],
    402: ['budget_exceeded', 'insufficient_credits'],
    403: ['approval_required', 'forbidden', 'https_required'],
    404: ['not_found', 'template_not_found', 'unknown_chain', 'unknown_service'],
    409: ['conflict', 'consent_required', 'document_expired', 'idempotency_in_progress'],
    413: ['payload_too_large'],
    415: ['unsupported_media_type'],
    417: ['expectation_failed'],
    422: ['authentication_error', 'configuration_missing', 'idempotency_key_reused', 'partially_dispatched', 'provider_error', 'suppressed',
      'validation_failed'],
    429: ['rate_limited'],
    500: ['distant_service_error', 'document_damaged', 'internal_error'],
    503: ['provider_unavailable', 'service_unavailable'],
    504: ['outcome_unknown', 'recording_unknown', 'timeout']
  })
  t.end()
})

await t.test('a refusal tells the first problem in its sentence and how many more there are', (t) => {
  const problem = (path: string): { path: string, code: string, message: string } => ({ path, code: 'type', message: 'Wrong.' })
  has(t, refusal('validation_error', [problem('/a')]), { word: 'validation_error', message: '/a: Wrong.', details: [problem('/a')] })
  t.equal(refusal('validation_error', [problem('')]).message, 'The request: Wrong.')
  t.equal(refusal('validation_error', [problem('/a'), problem('/b'), problem('/c')]).message, '/a: Wrong. And 2 more: see the details.')
  t.end()
})
