import t from 'tap'
import { openConsole } from '../../../../../test/plugins/support/console.ts'
import { letter } from '../../../../../test/plugins/support/templates.ts'
import { clockAt } from '../../../../../test/support/clock.ts'
import { contains, has, lacks, type Pattern } from '../../../../../test/support/matching.ts'
import { runQueued } from '../../../../../test/support/run-queued.ts'
import { type Answer, type Login, startService } from '../../../../../test/support/service.ts'
import { encodePng } from '../../../documents/image/png-write.ts'

const clock = clockAt('2026-03-14T03:00:00Z')
const service = await startService(t, { config: { runsWorker: false }, replacements: { now: clock.now } })
const { companyId, admin, member } = await service.company('painted')
const other = await service.company('plain')
const send = (method: string, path: string, body?: unknown, login: Login = admin): Promise<Answer> =>
  service.send(method, path, body === undefined ? {} : { body }, login)
const path = '/api/v1/company/brand'
const image = `data:image/png;base64,${
  Buffer.from(encodePng({ width: 8, height: 8, color: 'rgb', data: Buffer.alloc(192, 9) })).toString('base64')
}`
const brand = { logo: 'logo', accent: '#7a1f3d', font: 'serif' }

/** A template of the company that takes its brand. */
const ours = letter({
  source: 'name: Ours\nservice: file\nlocale: en\nbrand: true\nbody:\n  - image: { value: brand.logo, alt: Logo }\n' +
    '  - heading: { text: "Dear {{ name }}", color: accent }\n  - paragraph: "{{ brand.seller.name }}"\n'
})

async function bytesOf (path: string, body: object, login: Login = admin): Promise<string> {
  const credentials = Buffer.from(`${login.email}:${login.password}`).toString('base64')
  const headers = { authorization: `Basic ${credentials}`, 'content-type': 'application/json' }
  const answer = await fetch(service.url + path, { method: 'POST', headers, body: JSON.stringify(body) })
  return Buffer.from(await answer.arrayBuffer()).toString('latin1')
}
const shown = (id: number, login: Login = admin): Promise<string> =>
  bytesOf(`/api/v1/templates/${String(id)}/preview`, { format: 'HTML' }, login)

/** The SHA-256 of the document that a dispatch made. */
async function documentOf (id: string): Promise<string> {
  return (await send('GET', `/api/v1/dispatches/${id}`)).body.steps[0].generatedDocument.sha256
}

await t.test('nobody has set it: the documents are as they were', async (t) => {
  t.strictSame((await send('GET', path)).body, { updatedAt: null })
  contains(t, await shown(30), '#2f3e46')
})

const refused: [rule: string, body: object, answer: Pattern][] = [
  ['a picture that is not there', { logo: 'nothing' }, { status: 422, body: { details: [{ path: '/logo', code: 'unknown_asset' }] } }],
  [
    'a colour that nobody can read',
    { text: '#ffff00', accent: '#7a1f3d' },
    { status: 422, body: { details: [{ path: '/text', code: 'low_contrast', message: /1\.1:1 against white paper; at least 4\.5:1/ }] } }
  ],
  ['what is no colour', { accent: 'red' }, { status: 400 }],
  ['a font that does not come with the service', { font: 'comic' }, { status: 400 }]
]

for (const [rule, body, answer] of refused) {
  await t.test(`${rule} is refused`, async (t) => {
    has(t, await send('PUT', path, body), answer)
    has(t, await send('POST', `${path}/preview`, { brand: body }), { status: (answer as { status: number }).status })
  })
}

await t.test('the templates that come with the service follow it, and no other company', async (t) => {
  await send('POST', '/api/v1/assets', { name: 'logo', image })
  t.equal((await send('PUT', path, brand, member)).status, 403)
  has(t, await send('PUT', path, brand), { status: 200, body: { ...brand, updatedAt: /^2026-03-14/ } })
  const html = await shown(30)
  contains(t, html, '#7a1f3d')
  contains(t, html, 'src="data:image/png')
  lacks(t, html, '#2f3e46')
  contains(t, await shown(30, other.admin), '#2f3e46')
  has(t, (await send('GET', path, undefined, other.admin)).body, { updatedAt: null })
})

await t.test('a brand that is not stored is shown on a template', async (t) => {
  const html = await bytesOf(`${path}/preview`, { brand: { accent: '#004d40' }, templateId: 1, format: 'HTML' })
  contains(t, html, '#004d40')
  has(t, (await send('GET', path)).body, brand)
  t.equal((await send('POST', `${path}/preview`, { brand: {}, templateId: 987654 })).status, 404)
})

await t.test('the picture stays when it is removed among those of templates', async (t) => {
  t.equal((await send('DELETE', '/api/v1/assets/logo')).status, 204)
  t.equal((await send('PUT', path, { ...brand, text: '#222222' })).status, 200)
  contains(t, await shown(30), 'src="data:image/png')
})

await t.test('a dispatch has the brand that it was accepted with, however late it is made', async (t) => {
  await send('PUT', '/api/v1/company/details', { seller: { name: 'Northwind' } })
  const { body: { id } } = await send('POST', '/api/v1/templates', ours)
  await send('POST', `/api/v1/templates/${String(id)}/publish`, { version: 1 })
  contains(t, await shown(id), 'Northwind')
  const body = { template: { id, data: { name: 'Ada' } } }
  const before = await documentOf((await send('POST', '/api/file', body)).body.dispatchId)
  const queued = (await send('POST', '/api/file?async=true', body)).body.dispatchId
  await send('PUT', path, { accent: '#004d40' })
  await send('PUT', '/api/v1/company/details', { seller: { name: 'Southwind' } })
  const after = await documentOf((await send('POST', '/api/file', body)).body.dispatchId)
  await runQueued(service.app.get('pipeline'), { companyId, dispatchId: queued })
  t.equal(await documentOf(queued), before, 'the same bytes')
  t.not(after, before)
  await send('POST', '/api/v1/assets', { name: 'logo', image })
  await send('PUT', path, { ...brand, text: '#222222' })
  await send('PUT', '/api/v1/company/details', { seller: { name: 'Northwind' } })
  t.equal(await documentOf((await send('POST', '/api/file', body)).body.dispatchId), before, 'the same brand again')
})

await t.test('a brand that is saved as it stands has not changed: a batch that was approved before goes on', async (t) => {
  const { body: { updatedAt, ...same } } = await send('GET', path)
  clock.advance(60)
  has(t, await send('PUT', path, same), { status: 200, body: { updatedAt } })
  const { logo: _, ...without } = same
  for (const body of [without, { ...same, text: '#333333' }, same]) {
    clock.advance(60)
    has(t, await send('PUT', path, body), { status: 200, body: { updatedAt: clock.now().toISOString() } })
  }
})

await t.test('the console shows it beside a document, keeps what was typed and takes a logo in one step', async (t) => {
  const { open, post, signIn } = openConsole(service)
  const cookie = await signIn(admin)
  const page = (await open('/company/brand', cookie)).body
  contains(t, page, 'type="color"')
  contains(t, page, 'value="#7a1f3d"')
  const wrong = await post('/company/brand', { 'text-own': 'true', text: '#ffff00', 'accent-own': 'true', accent: '#003366' }, cookie)
  t.equal(wrong.status, 422)
  contains(t, wrong.body, 'against white paper')
  contains(t, wrong.body, 'value="#003366"')
  const form = new FormData()
  form.set('image', new Blob([Buffer.from(image.slice(image.indexOf(',') + 1), 'base64')]), 'logo.png')
  const added = await fetch(`${service.url}/console/company/brand/logo`, {
    method: 'POST',
    headers: { cookie, 'sec-fetch-site': 'same-origin' },
    body: form,
    redirect: 'manual'
  })
  t.equal(added.status, 303)
  has(t, (await send('GET', path)).body, { logo: 'logo-2', accent: '#7a1f3d' })
  const live = await post('/company/brand/live', { 'accent-own': 'true', accent: '#003366', template: '30' }, cookie)
  t.equal(live.headers.get('content-type'), 'application/pdf')
  contains(t, live.body, /^%PDF/)
})
