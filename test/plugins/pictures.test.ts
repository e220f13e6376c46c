import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { readImage } from '../../core/packages/documents/image/read.ts'
import { publishShared } from '../../core/packages/features/templates/store/shared-templates.ts'
import { createNetwork } from '../../core/packages/vendor-io/network.ts'
import { contains, has, lacks } from '../support/matching.ts'
import { startService, type TestService } from '../support/service.ts'
import { answer, mailServer } from '../support/smtp.ts'
import { type Handler, testProviders } from './support/providers.ts'

const picture = 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

/** The bytes of the picture as they travel. */
function base64Of (uri: string): string {
  const image = readImage(uri)
  if (typeof image === 'string') throw new TypeError(image)
  return Buffer.from(image.bytes).toString('base64')
}

/** A mail with a picture, as a template of this version. */
function mailTemplate (digest: string, words: string) {
  return {
    id: 900,
    name: 'Mail with a picture',
    digest,
    yaml: '',
    source: {
      name: 'Mail with a picture',
      service: 'email' as const,
      locale: 'en',
      assets: { logo: picture },
      body: [{ image: { asset: 'logo', alt: 'Acme' } }, { paragraph: words }]
    },
    schema: { type: 'object' },
    sample: {}
  }
}

type Sent = { sources: string[], service: TestService, first: Awaited<ReturnType<TestService['send']>> }

/** A mail with a picture that its mail server has turned away once, for now. `sources`: what it was told since. */
async function sentOnce (t: Test): Promise<Sent> {
  const sources: string[] = []
  const server = await mailServer(t, () => ({
    onData (stream, _session, callback) {
      text(stream).then((source) => callback(sources.push(source) === 1 ? answer(451, 'Later.') : null), callback)
    }
  }))
  const network = createNetwork({ loopback: 'allowed', ca: [server.ca], route: server.route })
  const service = await startService(t, { replacements: { network } })
  await publishShared(service.app.get('database'), [mailTemplate('first', 'One.')], new Date())
  const settings = { host: 'mail.acme.test', user: 'user', password: 'password', allowedSenders: ['@acme.test'] }
  has(t, await service.send('PUT', '/api/v1/company/providers/smtp', { body: { settings } }), { status: 200 })
  const first = await service.send('POST', '/api/email', {
    body: { providerName: 'smtp', from: 'billing@acme.test', to: 'ada@example.com', subject: 'Hello', template: { id: 900, data: {} } }
  })
  has(t, first, { status: 503, body: { error: 'provider_unavailable', dispatchId: String } })
  return { sources, service, first }
}

await t.test('a mail carries its pictures, and the next attempt the same, whatever became of the template', async (t) => {
  const { sources, service: { app, send }, first } = await sentOnce(t)
  await publishShared(app.get('database'), [mailTemplate('second', 'Two.')], new Date())
  has(t, await send('POST', `/api/v1/dispatches/${first.body.dispatchId}/retry`), { status: 200, body: { status: 'succeeded' } })

  t.equal(sources.length, 2)
  for (const source of sources) {
    const [, contentId = ''] = /cid:(?:=\r\n)?([0-9a-f]{32}@picture)/.exec(source.replaceAll('=\r\n', '')) ?? []
    t.ok(contentId)
    t.ok(source.includes(`Content-ID: <${contentId}>`))
    contains(t, source, /multipart\/related/)
    contains(t, source, /Content-Disposition: inline; filename=picture-1\.png/)
    t.ok(source.replaceAll('\r\n', '').includes(base64Of(picture)))
    contains(t, source, /One\./)
    lacks(t, source, /Two\./)
  }
})

await t.test('a picture that is damaged on the disk is found before the mail server is asked again', async (t) => {
  const { sources, service: { app, send }, first: { body: { dispatchId } } } = await sentOnce(t)
  const { storage_key: key } = await app.get('database').owner.selectFrom('documents').select('storage_key')
    .where('dispatch_id', '=', dispatchId).where('content_type', '=', 'image/png').executeTakeFirstOrThrow()
  await rm(join(app.get('config').dataDirectory, 'files', key))
  has(t, await send('POST', `/api/v1/dispatches/${dispatchId}/retry`), { status: 500, body: { error: 'document_damaged' } })
  t.equal(sources.length, 1)
})

await t.test('a provider that can show no pictures gets no mail with any: validation says so, a list goes on to the next', async (t) => {
  const providers = await testProviders(t)
  const email = { of: 'email', settings: '{ allowedSenders: AllowedSenders() }' } as const
  const sent: string[] = []
  const sends = (code: string): Handler => () => {
    sent.push(code)
    return Promise.resolve({ id: '1', status: 'sent' })
  }
  await providers.add('blind', { ...email, service: 'idempotency: { kind: \'none\' }, inlinePictures: false' }, sends('blind'))
  await providers.add('seeing', { ...email, service: 'idempotency: { kind: \'none\' }' }, sends('seeing'))
  const { send } = await startService(t, { config: { providerDirectories: providers.directories } })
  const settings = { allowedSenders: ['@acme.test'] }
  for (const code of ['blind', 'seeing']) {
    has(t, await send('PUT', `/api/v1/company/providers/${code}`, { body: { settings } }), { status: 200 })
  }
  const body = '[{ if: logo, then: [{ image: { value: logo } }] }, { paragraph: Hello }]'
  const source = `name: Own\nservice: email\nlocale: en\nbody: ${body}\n`
  const schema = { type: 'object', properties: { logo: { type: 'string' } } }
  const own = await send('POST', '/api/v1/templates', { body: { source, schema, sample: {} } })
  has(t, own, { status: 201, body: { details: undefined } })
  await send('POST', `/api/v1/templates/${own.body.id}/publish`, { body: { version: 1 } })
  const { body: { sample } } = await send('GET', '/api/v1/templates/10')
  const mail = (id: number, data: object, more: object = {}): Promise<Awaited<ReturnType<typeof send>>[]> => {
    const body = { from: 'a@acme.test', to: 'ada@example.com', subject: 'Hello', template: { id, data }, ...more }
    return Promise.all(['/api/email/validate', '/api/email'].map((path) => send('POST', path, { body })))
  }
  const refused = { status: 422, body: { details: [{ path: '/template', code: 'not_supported_by_provider', message: /pictures/ }] } }
  for (const [id, data] of [[10, sample], [own.body.id, {}]] as const) {
    for (const answered of await mail(id, { ...data, logo: picture }, { providerName: 'blind' })) has(t, answered, refused)
    for (const answered of await mail(id, data, { providerName: 'blind' })) has(t, answered, { status: 200 }, 'without a picture it goes')
  }
  t.same(sent, ['blind', 'blind'])
  await send('PUT', '/api/v1/company/defaults/email', { body: { providers: [{ providerName: 'blind' }, { providerName: 'seeing' }] } })
  for (const answered of await mail(10, { ...sample, logo: picture })) has(t, answered, { status: 200 })
  t.same(sent, ['blind', 'blind', 'seeing'])
})
