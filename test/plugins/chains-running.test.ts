import { chains, type ServiceName } from '@dispatch/core'
import type { Format, Rendered } from '@dispatch/documents'
import { createHash } from 'node:crypto'
import t from 'tap'
import { createVendor, vendorNetwork } from '../../core/packages/conformance/vendor/vendor.ts'
import { chainBody } from '../support/chains.ts'
import { has } from '../support/matching.ts'
import { readingOf } from '../support/reading.ts'
import { type Answer, invoiceRequest, startService } from '../support/service.ts'
import { quickRenderer } from './support/parts.ts'
import { accepts, testProviders } from './support/providers.ts'

const vendor = await createVendor()
t.teardown(vendor.close)
const providers = await testProviders(t)
const document = ({ id }: { id: string }, { http }: any): Promise<unknown> =>
  http.download(`https://api.vendor.example/documents/${id}`, { filename: 'theirs.pdf' })
await providers.add('issuer', {}, accepts, { document })
await providers.add('texter', {
  of: 'sms',
  service: 'idempotency: { kind: \'none\' }',
  requestSettings: '{ route: Type.Optional(Type.String()) }'
},
  ({ sms }: any, { reference, requestSettings }) =>
    Promise.resolve({ id: `text-${reference}`, status: 'sent', message: sms.message, route: requestSettings['route'] ?? null }))

let made = 0
/** Every document is another one. */
const renderer = {
  ...quickRenderer,
  render: async <F extends Format>(job: { format: F }): Promise<Rendered<F>> =>
    ({ ...await quickRenderer.render(job as never), bytes: Buffer.from(`%PDF-1.7 ${++made}`) }) as unknown as Rendered<F>
}
const service = await startService(t, {
  config: { providerDirectories: providers.directories },
  replacements: { renderer, network: vendorNetwork(vendor) }
})
for (const code of ['issuer', 'texter']) await service.send('PUT', `/api/v1/company/providers/${code}`, { body: { settings: {} } })
const { dispatch: read, outbox, timeline } = readingOf(service)

const run = (path: readonly ServiceName[], more: Record<string, unknown> = {}): Promise<Answer> =>
  service.send('POST', `/api/${path.join('/')}`, { body: chainBody(path, invoiceRequest()['template'], more) })
const sha256 = (bytes: string | Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
/** The digest of what the first link in a text leads to. */
async function linked (text: string): Promise<string> {
  const [, token = ''] = /See https:\/\/dispatch\.example\.com(\/d\/[\w-]{48})$/.exec(text) ?? []
  const { status, body } = await service.send('GET', token, {}, null)
  return status === 200 ? sha256(body as string) : `${text}: ${status}`
}

/** What the simulator got for a step of a chain, as far as it is about the document. */
const gotten: Partial<Record<ServiceName, (sent: any) => unknown>> = {
  invoicing: ({ document: { sha256 } }) => sha256,
  esign: ({ document: { sha256 } }) => sha256,
  postal: ({ document: { sha256 } }) => sha256,
  upload: ({ document: { sha256 } }) => sha256,
  email: async ({ email: { text }, attachments }) =>
    attachments.length === 1 && await linked(text) === attachments[0].sha256 ? attachments[0].sha256 : { text, attachments },
  sms: ({ sms: { message } }) => linked(message)
}

await t.test('every chain of the table runs: each step gets the one document, in the order of the path', async (t) => {
  for (let index = 0; index < chains.length; index += 20) {
    const answers = await Promise.all(
      chains.slice(index, index + 20).map(async (path) => ({ path, ...await run(path, { metadata: { orderId: 'A-1' } }) }))
    )
    const sent = new Map((await outbox()).map((entry) => [entry.response.id, entry]))
    for (const { path, status, body } of answers) {
      const name = path.join('/')
      t.equal(status, 200, name)
      t.strictSame(Object.keys(body), ['success', 'dispatchId', 'status', 'steps', 'generatedDocument', 'metadata', 'executionTime'], name)
      has(t, body, {
        success: true,
        status: 'succeeded',
        metadata: { orderId: 'A-1' },
        generatedDocument: { contentType: 'application/pdf', sha256: /^[0-9a-f]{64}$/ }
      }, name)
      t.strictSame(body.steps.map((step: any) => [step.service, step.status, step.providerName]),
        path.map((one) => [one, 'accepted', one === 'file' ? null : 'simulator']), name)
      t.strictSame(body.steps.map((step: any) => step.generatedDocument), path.map((_, position) =>
        position === 0 ? body.generatedDocument : null
      ), name)
      const got = await Promise.all(body.steps.filter((step: any) => step.service !== 'file').map((step: any) =>
        gotten[step.service as ServiceName]?.(sent.get(step.providerResponse.id))
      ))
      t.strictSame(got, path.filter((one) =>
        one !== 'file'
      ).map(() => body.generatedDocument.sha256), name)
    }
  }
  t.equal(made, chains.length, 'each was made once')
})

await t.test('an e-mail attaches nothing where it is told not to, and may link all the same', async (t) => {
  const email = {
    from: 'demo@example.com',
    to: 'ada@example.com',
    subject: 'Yours',
    body: 'See {{ generatedDocument.url }}',
    attachGenerated: false
  }
  const { status, body } = await run(['file', 'email'], { email })
  t.equal(status, 200)
  const sent = (await outbox()).at(-1)
  t.strictSame(sent.attachments, [])
  t.equal(await linked(sent.email.text), body.generatedDocument.sha256)
})

await t.test('nothing else in a text is evaluated', async () => {
  const message = '{{ generatedDocument.id }} {{generatedDocument.url}} {% if x %}'
  await run(['file', 'sms'], { sms: { phoneNumber: '+33612345678', message } })
  t.equal((await outbox()).at(-1).sms.message, message)
})

await t.test('a document by its template\'s name begins a chain too', async (t) => {
  const { id, data } = invoiceRequest()['template'] as { id: number, data: object }
  const { body: { name: templateName } } = await service.send('GET', `/api/v1/templates/${id}`)
  const { status, body } = await service.send('POST', '/api/file/upload', { body: { fileContent: { templateName, data } } })
  has(t, { status, body }, { status: 200, body: { steps: [{ service: 'file' }, { service: 'upload' }] } })
  t.equal((await outbox()).at(-1).document.sha256, body.generatedDocument.sha256)
})

await t.test('each step is done by the provider that it names, with the settings that it gives', async (t) => {
  const { status, body } = await run(['invoicing', 'sms', 'upload'], {
    providerName: 'simulator',
    settings: { includePaymentCollectionLink: true },
    sms: { phoneNumber: '+33612345678', message: 'See {{ generatedDocument.url }}', providerName: 'texter', settings: { route: 'gold' } }
  })
  has(t, { status, body }, {
    status: 200,
    body: {
      steps: [
        { providerName: 'simulator', providerResponse: { paymentUrl: String } },
        { providerName: 'texter', providerResponse: { route: 'gold' } },
        { providerName: 'simulator' }
      ]
    }
  })
  t.equal(await linked(body.steps[1].providerResponse.message), body.generatedDocument.sha256)
})

/** What the vendor hands out. */
const theirs = '%PDF-1.7 theirs'
const handsOut = { headers: { 'content-type': 'application/pdf' }, body: Buffer.from(theirs) }
const asked = (): number => vendor.requests.filter(({ path }) => path.startsWith('/documents/')).length

await t.test('where a provider makes the document, its own is answered, attached, linked and archived, fetched once', async (t) => {
  vendor.answer(handsOut)
  const before = asked()
  const { status, body } = await run(['invoicing', 'email', 'sms', 'upload'], { providerName: 'issuer' })
  t.equal(status, 200)
  has(t, body.generatedDocument, { sha256: sha256(theirs), filename: 'theirs.pdf', size: theirs.length })
  const [email, sms, upload] = (await outbox()).slice(-3)
  t.strictSame([email.attachments[0].sha256, await linked(sms.sms.message), upload.document.sha256], [
    sha256(theirs),
    sha256(theirs),
    sha256(theirs)
  ])
  t.equal(asked(), before + 1)
  t.strictSame((await timeline(body.dispatchId)).filter((entry) => entry.startsWith('fetched')), ['fetched invoicing'])
  has(t, (await read(body.dispatchId)).steps[0].generatedDocument, { id: body.generatedDocument.id, sha256: sha256(theirs) })

  const alone = await run(['invoicing'], { providerName: 'issuer' })
  has(t, alone, { status: 200, body: { generatedDocument: { sha256: sha256(theirs) } } })
})

await t.test('a provider\'s document that cannot be had hinders what needs it, and nothing else; a retry fetches it', async (t) => {
  vendor.answer({ status: 500, text: 'Not yet.' })
  has(t, await run(['invoicing'], { providerName: 'issuer' }), {
    status: 200,
    body: { generatedDocument: { contentType: 'application/pdf' } }
  })
  const sent = (await outbox()).length
  const failed = await run(['invoicing', 'email'], { providerName: 'issuer' })
  has(t, failed, {
    status: 422,
    body: {
      error: 'partially_dispatched',
      status: 'partial',
      creditsCharged: 1,
      steps: [{ status: 'accepted' }, { status: 'unavailable', error: { error: 'provider_unavailable' } }]
    }
  })
  t.equal((await outbox()).length, sent)
  const again = (): Promise<Answer> => service.send('POST', `/api/v1/dispatches/${failed.body.dispatchId}/retry`)
  has(t, await again(), { status: 422, body: { status: 'partial' } })
  vendor.answer(handsOut)
  const done = await again()
  has(t, done, {
    status: 200,
    body: {
      status: 'succeeded',
      generatedDocument: { sha256: sha256(theirs) },
      steps: [{ providerResponse: failed.body.steps[0].providerResponse }, { status: 'accepted' }]
    }
  })
  t.equal((await outbox()).at(-1).attachments[0].sha256, sha256(theirs))
})

await t.test('a provider\'s document that was fetched is not fetched again by a retry', async (t) => {
  const { body: { dispatchId } } = await run(['invoicing', 'email', 'sms'], {
    providerName: 'issuer',
    sms: { phoneNumber: '+15005550001', message: 'Hello' }
  })
  const before = asked()
  has(t, await service.send('POST', `/api/v1/dispatches/${dispatchId}/retry`, {
    body: { sms: { phoneNumber: '+33612345678', message: 'See {{ generatedDocument.url }}' } }
  }), { status: 200 })
  t.equal(await linked((await outbox()).at(-1).sms.message), sha256(theirs))
  t.equal(asked(), before)
})
