import t from 'tap'
import { DispatchError } from '../../../core/packages/contract/errors.ts'
import type { DispatchStatus } from '../../../core/packages/contract/states.ts'
import type { Version } from '../../../core/packages/contract/versions.ts'
import { responseOf } from '../../../core/pipeline/respond/respond.ts'
import type { RunResult } from '../../../core/pipeline/respond/result.ts'
import { type Step, type StepState, unbegun } from '../../../core/pipeline/step.ts'
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

const by = { code: 'acme', version: '1.0.0', chosenBy: 'company', configuredBy: 'company', sandbox: false } as const
const error = {
  word: 'provider_error',
  message: 'The number is not in service.',
  details: [{ path: '', code: 'E-1', message: 'No.' }]
} as const

/** A step that has come to this. */
function step (service: Step['service'], state: Partial<StepState>, more: Partial<Pick<Step, 'by' | 'content'>> = { by }): Step {
  return {
    stepId: service,
    service,
    fields: {},
    requestSettings: {},
    price: 1,
    content: {},
    ...more,
    state: { ...unbegun, ...state }
  }
}

const file = step('file', { status: 'accepted' }, { content: { document } })
const invoicing = step('invoicing', { status: 'accepted', response: { id: 'I-1', status: 'sent' }, charged: 1 }, {
  by,
  content: { document }
})
const planned = step('upload', {})
const sms = step('sms', { status: 'rejected', error })

const result = (status: DispatchStatus, ...steps: Step[]): RunResult => ({
  dispatchId: 'dispatch',
  status,
  test: false,
  metadata: { orderId: 'A-1' },
  steps,
  createdAt: new Date(0),
  finishedAt: new Date(1500)
})

/** The error that a result is answered with, as its body has it. */
function refused (given: RunResult, version: Version = '1.1.0'): Record<string, unknown> {
  try {
    responseOf(given, addresses, version)
  } catch (thrown) {
    if (!(thrown instanceof DispatchError)) throw thrown
    const { word, status, message, reason, details, dispatchId, more } = thrown
    return {
      word,
      ...(reason === undefined ? {} : { reason }),
      httpStatus: status,
      message,
      dispatchId,
      ...(details === undefined ? {} : { details }),
      ...more
    }
  }
  throw new Error('It is answered with a success.')
}

await t.test('one service is answered with exactly the fields of the contract', (t) => {
  t.strictSame(responseOf(result('succeeded', invoicing), addresses, '1.1.0'), {
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
  has(t, responseOf(result('succeeded', file), addresses, '1.1.0'), { service: 'file', providerName: null, providerResponse: null })
  t.end()
})

await t.test('a chain is answered with its steps in their order, and the document that was made first', (t) => {
  t.strictSame(
    responseOf(result('succeeded', invoicing, step('sms', { status: 'accepted', response: { id: 'S-1', status: 'queued' } })), addresses,
      '1.1.0'),
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
    t.strictSame(responseOf({ ...result(status, planned), finishedAt: null }, addresses, '1.1.0'), {
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
    result('uncertain', invoicing,
      step('sms', { status: 'uncertain', error: { word: 'outcome_unknown', message: 'The answer was lost.' } }))
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
  has(t, refused(
    result('uncertain', file, step('sms', { status: 'uncertain', error: { word: 'outcome_unknown', message: 'The answer was lost.' } }))
  ), {
    word: 'outcome_unknown',
    httpStatus: 504
  })
  has(t, refused(result('failed', step('sms', { status: 'rejected' }))), { word: 'internal_error' })
  t.end()
})

await t.test('the reason of an error stays with its step; older clients read none, and words that they know', (t) => {
  const late = step('sms', { status: 'rejected', error: { word: 'suppressed', message: 'No.', reason: 'state_forbids' } })
  for (const [version, error] of [
    ['1.1.0', { error: 'suppressed', message: 'No.', reason: 'state_forbids' }],
    ['1.0.1', { error: 'validation_failed', message: 'No.' }]
  ] as const) {
    const { steps } = refused(result('partial', invoicing, late), version) as { steps: { error?: object }[] }
    t.strictSame(steps[1]?.error, error, version)
  }
  has(t, refused(result('failed', late)), { word: 'suppressed', reason: 'state_forbids' })
  t.end()
})

await t.test('what was cancelled is no success', (t) => {
  has(t, refused(result('cancelled', step('invoicing', {}, { by, content: { document } }), planned)), {
    word: 'conflict',
    httpStatus: 409,
    dispatchId: 'dispatch'
  })
  t.end()
})
