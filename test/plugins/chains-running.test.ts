import { chains } from '@dispatch/contract'
import type { ServiceName } from '@dispatch/services'
import t from 'tap'
import { has } from '../support/matching.ts'
import { type Answer, invoiceRequest } from '../support/service.ts'
import { sha256, startChains } from './support/chains-stage.ts'

const { vendor, service, run, linked, read, outbox, timeline, allRun } = await startChains(t)

/** Chains that show each service behind each other one; the longest show most. All of them run in chains-all.test.ts. */
function representative (): (readonly ServiceName[])[] {
  const seen = new Set<string>()
  const pairs = (path: readonly ServiceName[]): string[] => path.map((name, index) => `${path[index - 1] ?? ''}/${name}`)
  return chains.toSorted((one, other) => other.length - one.length).filter((path) => {
    const isNew = pairs(path).some((pair) => !seen.has(pair))
    for (const pair of pairs(path)) seen.add(pair)
    return isNew
  })
}

await t.test('chains run: each step gets the one document, in the order of the path', async (t) => {
  const paths = representative()
  t.ok(paths.length > 10 && paths.length < 40, `${paths.length} chains`)
  await allRun(t, paths)
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
const requested = (): number => vendor.requests.filter(({ path }) => path.startsWith('/documents/')).length

await t.test('where a provider makes the document, its own is answered, attached, linked and archived, fetched once', async (t) => {
  vendor.answer(handsOut)
  const before = requested()
  const { status, body } = await run(['invoicing', 'email', 'sms', 'upload'], { providerName: 'issuer' })
  t.equal(status, 200)
  has(t, body.generatedDocument, { sha256: sha256(theirs), filename: 'theirs.pdf', size: theirs.length })
  const [email, sms, upload] = (await outbox()).slice(-3)
  t.strictSame([email.attachments[0].sha256, await linked(sms.sms.message), upload.document.sha256], [
    sha256(theirs),
    sha256(theirs),
    sha256(theirs)
  ])
  t.equal(requested(), before + 1)
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
  const before = requested()
  has(t, await service.send('POST', `/api/v1/dispatches/${dispatchId}/retry`, {
    body: { sms: { phoneNumber: '+33612345678', message: 'See {{ generatedDocument.url }}' } }
  }), { status: 200 })
  t.equal(await linked((await outbox()).at(-1).sms.message), sha256(theirs))
  t.equal(requested(), before)
})
