import t from 'tap'
import { has } from '../support/matching.ts'
import { startService } from '../support/service.ts'

const sample = async (service: Awaited<ReturnType<typeof startService>>, id: number): Promise<unknown> =>
  (await service.send('GET', `/api/v1/templates/${String(id)}`)).body.sample

await t.test('every service dispatches through the simulator, and says what it sent', async (t) => {
  const service = await startService(t)
  const requests = {
    esign: {
      template: { id: 40, data: await sample(service, 40) },
      signers: [
        { email: 'ada@example.com', firstName: 'Ada', lastName: 'Lovelace' },
        { email: 'grace@example.com', firstName: 'Grace', lastName: 'Hopper' }
      ],
      callbackUrl: 'https://example.com/hook'
    },
    postal: {
      template: { id: 30, data: await sample(service, 30) },
      postal: {
        recipient: { name: 'Ada Lovelace', address: '12 rue de la Paix', city: 'Paris', postalCode: '75002', country: 'FR' },
        color: true
      }
    },
    sms: { sms: { phoneNumber: '+33612345678', message: 'Your invoice is ready.' } },
    email: {
      from: 'demo@example.com',
      to: 'ada@example.com',
      subject: 'Your invoice',
      template: { id: 10, data: await sample(service, 10) }
    }
  }
  for (const [name, body] of Object.entries(requests)) {
    has(t, (await service.send('POST', `/api/${name}/validate`, { body })).body, {
      success: true,
      plan: [{ service: name, providerName: 'simulator', credits: 0 }]
    }, `${name} is valid`)
    has(t, (await service.send('POST', `/api/${name}`, { body })).body, { success: true, service: name, providerName: 'simulator' },
      `${name} is dispatched`)
  }
  const { body: outbox } = await service.send('GET', '/api/v1/simulator/outbox')
  t.same(outbox.data.map((sent: { service: string }) => sent.service), ['email', 'sms', 'postal', 'esign'])
  const [email, sms, , esign] = outbox.data
  has(t, email.email, { from: 'demo@example.com', to: ['ada@example.com'], subject: 'Your invoice', html: /<html/, text: /\w/ })
  has(t, sms.sms, { message: 'Your invoice is ready.' })
  has(t, esign.signatures, [{ signer: 1, page: 2 }, { signer: 2, page: 2 }])
})

await t.test('file makes a document without a provider, under the name that was asked for', async (t) => {
  const service = await startService(t)
  const body = { template: { id: 30, data: await sample(service, 30) }, file: { filename: 'Brief ä.pdf' } }
  const answer = await service.send('POST', '/api/file', { body })
  has(t, answer.body, {
    success: true,
    service: 'file',
    providerName: null,
    providerResponse: null,
    generatedDocument: { filename: 'Brief ä.pdf', contentType: 'application/pdf' }
  })
  const view = await service.send('GET', `/api/v1/dispatches/${String(answer.body.dispatchId)}`)
  has(t, view.body, { status: 'succeeded', creditsCharged: 0, steps: [{ service: 'file', status: 'accepted', providerName: null }] })
})

await t.test('upload takes a form in any order, sniffs the type, and leaves nothing of what is refused', async (t) => {
  const service = await startService(t)
  const form = new FormData()
  form.append('file', new Blob([Buffer.from('%PDF-1.7\n%âãÏÓ\n')]), 'scan.bin')
  form.append('metadata', '{"orderId":"A-1"}')
  const send = (body: FormData): Promise<Response> =>
    fetch(`${service.url}/api/upload`, {
      method: 'POST',
      body,
      headers: { authorization: `Basic ${Buffer.from('demo@example.com:demo-password').toString('base64')}` }
    })
  const answer = await send(form)
  has(t, await answer.json(), {
    success: true,
    service: 'upload',
    metadata: { orderId: 'A-1' },
    generatedDocument: { contentType: 'application/pdf', filename: 'scan.bin', size: 19 }
  })
  const unknown = new FormData()
  unknown.append('file', new Blob(['hello']), 'hello.txt')
  unknown.append('metdata', '{}')
  const refused = await send(unknown)
  t.equal(refused.status, 400)
  has(t, await refused.json(), { error: 'validation_error', details: [{ path: '/metdata' }] })
  const empty = await send(new FormData())
  t.equal(empty.status, 400)
})
