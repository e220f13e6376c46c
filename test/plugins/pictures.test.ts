import { text } from 'node:stream/consumers'
import t from 'tap'
import { createNetwork } from '../../core/host/http/network.ts'
import { readImage } from '../../core/packages/documents/image/read.ts'
import { contains, has, lacks } from '../support/matching.ts'
import { startService } from '../support/service.ts'
import { answer, mailServer } from '../support/smtp.ts'

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

await t.test('a mail carries its pictures, and the next attempt the same, whatever became of the template', async (t) => {
  const sources: string[] = []
  const server = await mailServer(t, () => ({
    onData (stream, _session, callback) {
      text(stream).then((source) => callback(sources.push(source) === 1 ? answer(451, 'Later.') : null), callback)
    }
  }))
  const network = createNetwork({ loopback: 'allowed', ca: [server.ca], route: server.route })
  const { send, app } = await startService(t, { replacements: { network } })
  const templates = app.get('templates')
  await templates.publishShared([mailTemplate('first', 'One.')], new Date())
  const settings = { host: 'mail.acme.test', user: 'user', password: 'password', allowedSenders: ['@acme.test'] }
  has(t, await send('PUT', '/api/v1/company/providers/smtp', { body: { settings } }), { status: 200 })

  const first = await send('POST', '/api/email', {
    body: { providerName: 'smtp', from: 'billing@acme.test', to: 'ada@example.com', subject: 'Hello', template: { id: 900, data: {} } }
  })
  has(t, first, { status: 503, body: { error: 'provider_unavailable', dispatchId: String } })
  await templates.publishShared([mailTemplate('second', 'Two.')], new Date())
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
