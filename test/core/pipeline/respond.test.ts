import t from 'tap'
import { DispatchError } from '../../../core/contract/errors.ts'
import type { DispatchStatus } from '../../../core/contract/states.ts'
import { responseOf } from '../../../core/pipeline/respond/respond.ts'
import type { DispatchResult, StepResult } from '../../../core/pipeline/respond/result.ts'
import { has } from '../../support/matching.ts'

const addresses = {
  document: ({ id }: { id: string }) => `https://dispatch.example.com/d/${id}`,
  status: (id: string) => `https://dispatch.example.com/api/v1/dispatches/${id}`
}
const document = {
  id: 'document',
  filename: 'a.pdf',
  contentType: 'application/pdf',
  size: 5,
  sha256: '0'.repeat(64),
  pages: 1,
  expiresAt: new Date('2026-04-13T09:30:00Z')
}
const shownDocument = { ...document, url: 'https://dispatch.example.com/d/document', expiresAt: '2026-04-13T09:30:00.000Z' }

const file: StepResult = {
  service: 'file',
  providerName: null,
  sandbox: false,
  status: 'accepted',
  response: null,
  document,
  error: null,
  charged: 0
}
const invoicing: StepResult = {
  service: 'invoicing',
  providerName: 'acme',
  sandbox: false,
  status: 'accepted',
  response: { id: 'I-1', status: 'sent' },
  document,
  error: null,
  charged: 1
}
const planned: StepResult = {
  service: 'upload',
  providerName: 'acme',
  sandbox: false,
  status: 'planned',
  response: null,
  document: null,
  error: null,
  charged: 0
}
const error = {
  word: 'provider_error',
  message: 'The number is not in service.',
  details: [{ path: '', code: 'E-1', message: 'No.' }]
} as const
const sms: StepResult = {
  service: 'sms',
  providerName: 'acme',
  sandbox: false,
  status: 'rejected',
  response: null,
  document: null,
  error,
  charged: 0
}

const result = (status: DispatchStatus, ...steps: StepResult[]): DispatchResult => ({
  dispatchId: 'dispatch',
  status,
  test: false,
  metadata: { orderId: 'A-1' },
  steps,
  createdAt: new Date(0),
  finishedAt: new Date(1500)
})

/** The error that a result is answered with, as its body has it. */
function refused (given: DispatchResult): Record<string, unknown> {
  try {
    responseOf(given, addresses)
  } catch (thrown) {
    if (!(thrown instanceof DispatchError)) throw thrown
    const { word, status, message, details, dispatchId, more } = thrown
    return { word, httpStatus: status, message, dispatchId, ...(details === undefined ? {} : { details }), ...more }
  }
  throw new Error('It is answered with a success.')
}

await t.test('one service is answered with exactly the fields of the contract', (t) => {
  t.strictSame(responseOf(result('succeeded', invoicing), addresses), {
    success: true,
    dispatchId: 'dispatch',
    status: 'succeeded',
    service: 'invoicing',
    providerName: 'acme',
    providerResponse: { id: 'I-1', status: 'sent' },
    generatedDocument: shownDocument,
    metadata: { orderId: 'A-1' },
    executionTime: 1.5
  })
  has(t, responseOf(result('succeeded', file), addresses), { service: 'file', providerName: null, providerResponse: null })
  t.end()
})

await t.test('a chain is answered with its steps in their order, and the document that was made first', (t) => {
  t.strictSame(
    responseOf(result('succeeded', invoicing, { ...sms, status: 'accepted', response: { id: 'S-1', status: 'queued' }, error: null }),
      addresses),
    {
      success: true,
      dispatchId: 'dispatch',
      status: 'succeeded',
      steps: [
        {
          service: 'invoicing',
          status: 'accepted',
          providerName: 'acme',
          providerResponse: { id: 'I-1', status: 'sent' },
          generatedDocument: shownDocument
        },
        {
          service: 'sms',
          status: 'accepted',
          providerName: 'acme',
          providerResponse: { id: 'S-1', status: 'queued' },
          generatedDocument: null
        }
      ],
      generatedDocument: shownDocument,
      metadata: { orderId: 'A-1' },
      executionTime: 1.5
    }
  )
  t.end()
})

await t.test('what goes on is answered with where it can be read', (t) => {
  for (const status of ['queued', 'running'] as const) {
    t.strictSame(responseOf({ ...result(status, planned), finishedAt: null }, addresses), {
      success: true,
      dispatchId: 'dispatch',
      status,
      statusUrl: 'https://dispatch.example.com/api/v1/dispatches/dispatch',
      metadata: { orderId: 'A-1' }
    })
  }
  t.end()
})

await t.test('a chain of which something was done is no error to send again: its state, its price, and the way on', (t) => {
  t.strictSame(refused(result('partial', invoicing, sms, planned)), {
    word: 'partially_dispatched',
    httpStatus: 422,
    message: 'A part of the dispatch is done ("invoicing"). The step "sms" is not: The number is not in service. Do not send the request ' +
      'again: a POST to "retryUrl" does the rest.',
    dispatchId: 'dispatch',
    status: 'partial',
    steps: [
      {
        service: 'invoicing',
        status: 'accepted',
        providerName: 'acme',
        providerResponse: { id: 'I-1', status: 'sent' },
        generatedDocument: shownDocument
      },
      {
        service: 'sms',
        status: 'rejected',
        providerName: 'acme',
        providerResponse: null,
        generatedDocument: null,
        error: { error: 'provider_error', message: error.message, details: error.details }
      },
      { service: 'upload', status: 'planned', providerName: 'acme', providerResponse: null, generatedDocument: null }
    ],
    creditsCharged: 1,
    retryUrl: 'https://dispatch.example.com/api/v1/dispatches/dispatch/retry'
  })
  has(t, refused(
    result('uncertain', invoicing, { ...sms, status: 'uncertain', error: { word: 'outcome_unknown', message: 'The answer was lost.' } })
  ), {
    word: 'partially_dispatched',
    message: 'A part of the dispatch is done ("invoicing"). The step "sms" is not: The answer was lost. Do not send the request again: ' +
      'what became of that step is being found out; then the rest is done by itself, or by a POST to "retryUrl".',
    status: 'uncertain',
    steps: [{ service: 'invoicing', status: 'accepted' }, { error: { error: 'outcome_unknown' } }]
  })
  t.end()
})

await t.test('only what a provider accepted counts as done: any other failure is that of the service alone', (t) => {
  const alone = { word: 'provider_error', httpStatus: 422, message: error.message, dispatchId: 'dispatch', details: error.details }
  t.strictSame(refused(result('failed', sms)), alone)
  t.strictSame(refused(result('failed', file, sms)), alone)
  has(t, refused(result('uncertain', file, { ...sms, error: { word: 'outcome_unknown', message: 'The answer was lost.' } })), {
    word: 'outcome_unknown',
    httpStatus: 504
  })
  has(t, refused(result('failed', { ...sms, error: null })), { word: 'internal_error' })
  t.end()
})

await t.test('what was cancelled is no success', (t) => {
  has(t, refused(result('cancelled', { ...invoicing, status: 'planned', response: null }, planned)), {
    word: 'conflict',
    httpStatus: 409,
    dispatchId: 'dispatch'
  })
  t.end()
})
