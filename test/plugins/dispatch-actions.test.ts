import t from 'tap'
import { chainBody } from '../support/chains.ts'
import { has } from '../support/matching.ts'
import { quickRenderer } from '../support/quick-renderer.ts'
import { type Answer, invoiceRequest, type Login, startService } from '../support/service.ts'

const service = await startService(t, { replacements: { renderer: quickRenderer } })
const path = ['invoicing', 'sms', 'upload'] as const
const sms = { phoneNumber: '+33612345678', message: 'See {{ generatedDocument.url }}' }
const refused = { ...sms, phoneNumber: '+15005550001' }

const dispatch = (more: Record<string, unknown>, query = ''): Promise<Answer> =>
  service.send('POST', `/api/${path.join('/')}${query}`, { body: chainBody(path, invoiceRequest()['template'], more) })
const about = (id: string, what: string, body?: unknown, login?: Login): Promise<Answer> =>
  service.send('POST', `/api/v1/dispatches/${id}/${what}`, body === undefined ? {} : { body }, login)
const read = async (id: string): Promise<any> => (await service.send('GET', `/api/v1/dispatches/${id}`)).body

await t.test('a chain is answered with each of its steps', async (t) => {
  const { status, body } = await dispatch({ metadata: { orderId: 'A-1' } })
  t.equal(status, 200)
  t.strictSame(Object.keys(body), ['success', 'dispatchId', 'status', 'steps', 'generatedDocument', 'metadata', 'executionTime'])
  has(t, body.steps, path.map((name) => ({ service: name, status: 'accepted', providerName: 'simulator', providerResponse: { id: /./ } })))
  has(t, body.steps[0].generatedDocument, body.generatedDocument)
  has(t, await read(body.dispatchId), { status: 'succeeded', services: path, creditsCharged: 1 })
})

await t.test('a chain that failed half-way says what is done and paid for; a retry does the rest with what was put right', async (t) => {
  const failed = await dispatch({ sms: refused })
  has(t, failed, {
    status: 422,
    body: {
      error: 'partially_dispatched',
      status: 'partial',
      creditsCharged: 1,
      steps: [
        { service: 'invoicing', status: 'accepted' },
        { service: 'sms', status: 'rejected', error: { error: 'provider_error' } },
        { service: 'upload', status: 'planned' }
      ]
    }
  })
  const { dispatchId, retryUrl } = failed.body
  t.equal(retryUrl, `https://dispatch.example.com/api/v1/dispatches/${dispatchId}/retry`)

  has(t, await about(dispatchId, 'retry', { sms: { ...sms, phoneNumber: 'none' } }), {
    status: 400,
    body: { details: [{ path: '/sms/phoneNumber' }] }
  })
  has(t, await about(dispatchId, 'retry', { upload: {} }), { status: 400, body: { details: [{ path: '/sms' }, { path: '/upload' }] } },
    'only what failed is replaced')
  has(t, await about(dispatchId, 'retry'), { status: 422, body: { error: 'partially_dispatched', dispatchId } },
    'as it was, it is refused again')
  const done = await about(dispatchId, 'retry', { sms })
  has(t, done, {
    status: 200,
    body: {
      status: 'succeeded',
      steps: [{ providerResponse: failed.body.steps[0].providerResponse }, { status: 'accepted' }, { status: 'accepted' }]
    }
  })
  has(t, await about(dispatchId, 'retry'), { status: 409, body: { error: 'conflict' } }, 'there is nothing left to do')
  has(t, await read(dispatchId), { status: 'succeeded', creditsCharged: 1 })
})

await t.test('who does not wait is told where to read, and how it ends', async (t) => {
  const { status, body } = await dispatch({}, '?async=true')
  t.equal(status, 200)
  t.strictSame({ ...body, dispatchId: '' }, {
    success: true,
    dispatchId: '',
    status: 'queued',
    statusUrl: `https://dispatch.example.com/api/v1/dispatches/${body.dispatchId}`,
    metadata: {}
  })
  const deadline = Date.now() + 120_000
  while (!['succeeded', 'failed'].includes((await read(body.dispatchId)).status) && Date.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  has(t, await read(body.dispatchId), { status: 'succeeded' })
})

await t.test('a deferred step is read with the event that it waits for', async (t) => {
  const { body } = await service.send('POST', '/api/esign', {
    body: chainBody(['esign'], { id: 1, data: (invoiceRequest()['template'] as { data: unknown }).data }, {
      deferred: [{ on: 'esign.completed', service: 'upload' }]
    })
  })
  has(t, await read(body.dispatchId), {
    status: 'succeeded',
    services: ['esign'],
    steps: [{ service: 'esign' }, { service: 'upload', status: 'waiting', deferredOn: 'esign.completed' }]
  })
  t.notOk('steps' in body, 'and it is no part of the answer')
})

await t.test('what is over cannot be cancelled or tried again', async (t) => {
  const { body: { dispatchId } } = await dispatch({})
  for (const what of ['cancel', 'retry']) {
    has(t, await about(dispatchId, what), { status: 409, body: { error: 'conflict', dispatchId } }, what)
  }
})

await t.test('what is in doubt is not tried again: who can settle it is told', async (t) => {
  const { body: { dispatchId } } = await dispatch({ sms: { ...sms, phoneNumber: '+15005550003' } })
  has(t, await about(dispatchId, 'retry'), {
    status: 409,
    body: {
      error: 'conflict',
      message: 'The dispatch is uncertain: its outcome is being found out; an admin may also set it with POST ' +
        `/api/v1/dispatches/${dispatchId}/resolve.`
    }
  })
})

await t.test('a step that needs no provider is done in the timeline, not failed', async (t) => {
  const { body: { dispatchId } } = await service.send('POST', '/api/file', { body: { template: invoiceRequest()['template'] } })
  const { body: { data } } = await service.send('GET', `/api/v1/dispatches/${dispatchId}/events`)
  t.strictSame(data.map(({ kind }: { kind: string }) => kind), ['planned', 'rendered', 'done'])
})

await t.test('what became of a step is an admin\'s word, with its reason', async (t) => {
  const { body: { dispatchId } } = await dispatch({})
  const company = await service.company('others')
  const word = { outcome: 'accepted', reason: 'The vendor says so on the telephone.' }
  for (const wrong of [{}, { outcome: 'accepted' }, { ...word, outcome: 'perhaps' }, { ...word, reason: ' ' }, { ...word, more: 1 }]) {
    has(t, await about(dispatchId, 'resolve', wrong), { status: 400 }, JSON.stringify(wrong))
  }
  has(t, await about(dispatchId, 'resolve', word, company.member), { status: 403, body: { error: 'forbidden' } })
  has(t, await about(dispatchId, 'resolve', word, company.admin), { status: 404, body: { error: 'not_found' } })
  has(t, await about(dispatchId, 'resolve', word), { status: 409, body: { error: 'conflict' } }, 'there is no doubt about it')
})

await t.test('what is no dispatch of the company is a 404', async (t) => {
  const company = await service.company('strangers')
  const { body: { dispatchId } } = await dispatch({ sms: refused })
  for (const what of ['cancel', 'retry']) {
    has(t, await about(dispatchId, what, undefined, company.admin), { status: 404, body: { error: 'not_found' } }, what)
    has(t, await about('1', what), { status: 404, body: { error: 'not_found' } }, what)
  }
})
