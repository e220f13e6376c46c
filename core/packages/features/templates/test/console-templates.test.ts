import t from 'tap'
import { policies } from '../../../../../plugins/console/browser/policies.ts'
import { languages, wordFor } from '../../../../../plugins/console/language/language.ts'
import { templateName } from '../../../../../plugins/console/language/template-names.ts'
import { openConsole } from '../../../../../test/plugins/support/console.ts'
import { letter, letterYaml } from '../../../../../test/plugins/support/templates.ts'
import { contains, has, lacks } from '../../../../../test/support/matching.ts'
import { startService } from '../../../../../test/support/service.ts'
import { wordsOf } from '../pages/words.ts'

const [en, fr] = [wordsOf(languages.en), wordsOf(languages.fr)]
const service = await startService(t)
const company = await service.company('authors')
const send = (method: string, path: string, body?: object) => service.send(method, path, body === undefined ? {} : { body }, company.admin)
const { confirm, open, post, signIn } = openConsole(service)
const cookie = await signIn(company.admin)
const memberCookie = await signIn(company.member)

const markup = '<img src=x onerror=alert(1)>'
const { body: { id } } = await send('POST', '/api/v1/templates', letter({ name: 'Own' }))
const at = `/templates/${String(id)}`
await send('POST', `/api/v1${at}/publish`, { version: 1 })

/** What the editor sends for a letter. */
const texts = ({ name = 'Own', greeting = 'Hello', base = '1', ...changes }: Record<string, string> = {}): Record<string, string> => {
  const { schema, sample } = letter()
  return { base, name, source: letterYaml(name, greeting), schema: JSON.stringify(schema), sample: JSON.stringify(sample), ...changes }
}
const newest = async (): Promise<unknown> => (await send('GET', `/api/v1${at}`)).body.latestVersion

await t.test('the list has the company\'s own templates and the shared ones, and can be narrowed', async (t) => {
  const all = (await open('/templates', cookie)).body
  contains(t, all, `<a href="/console${at}">Own</a>`)
  contains(t, all, '<a href="/console/templates/1">Invoice</a>')
  contains(t, all, `<td class="beside-phone">${en.templateOwn}</td>`)
  const narrowed = (await open('/templates?service=file', cookie)).body
  contains(t, narrowed, `<a href="/console${at}">Own</a>`)
  lacks(t, narrowed, '<a href="/console/templates/1">')
  contains(t, (await open('/templates?service=nothing', cookie)).body, en.templatesNone)
})

await t.test('shared templates have names in the language of the reader, by which the search finds them', async (t) => {
  const french = { 'accept-language': 'fr' }
  const see = async (path: string): Promise<string> => (await open(path, cookie, french)).body
  const shared = (await send('GET', '/api/v1/templates?limit=100')).body.data as { id: number, name: string }[]
  for (const { id, name } of shared.filter(({ id }) => id < 1000)) t.not(templateName(fr, { id, name }), name, name)
  contains(t, await see('/templates'), '<a href="/console/templates/1">Facture</a>')
  contains(t, await see('/templates'), `<a href="/console${at}">Own</a>`)
  contains(t, await see('/templates/2'), '<h1>Devis</h1>')
  contains(t, await see('/send'), '<option value="30">Lettre (')
  contains(t, await see('/suppressions/templates'), '<option value="30">Lettre</option>')
  contains(t, await see('/company/brand'), '<option value="30" selected>Lettre</option>')
  contains(t, await see('/templates/1/difference?from=1&to=1'), /<h1>[^<]*Facture/)
  const { headers } = await open('/send?template=20', cookie, french)
  contains(t, await see((headers.get('location') ?? '').slice('/console'.length)), 'title="Aperçu de SMS d’avis"')
  for (const [q, path] of [['factur', '/templates/1'], ['invoice', '/templates/1'], ['own', at]] as const) {
    contains(t, await see(`/find?q=${q}`), `<a href="/console${path}">`, q)
  }
  lacks(t, (await open('/find?q=factur', cookie)).body, '/console/templates/1"')
})

await t.test('a template is shown with a preview in every format, in a frame of this origin alone', async (t) => {
  const { body, headers } = await open('/templates/1', cookie)
  t.equal(headers.get('content-security-policy'), policies.framing)
  contains(t, body,
    `<iframe src="/console/templates/1/preview?version=1" title="${en.previewOf.replace('{name}', 'Invoice')}" loading="lazy">`)
  contains(t, (await open('/templates/1?format=HTML', cookie)).body, 'src="/console/templates/1/preview?version=1&amp;format=HTML"')
  for (const [format, type, begins] of [['', 'application/pdf', '%PDF'], ['&format=PDF', 'application/pdf', '%PDF'], ['&format=HTML',
    'text/html; charset=utf-8', '<!'], ['&format=TEXT', 'text/plain; charset=utf-8', ''], ['&format=DOCX',
    'application/vnd.openxmlformats-officedocument.wordprocessingml.document', 'PK'], ['&format=XLSX',
    'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', 'PK']] as const)
  {
    const made = await open(`/templates/1/preview?version=1${format}`, cookie)
    t.same([made.status, made.headers.get('content-type')?.toLowerCase(), made.body.slice(0, begins.length)], [200, type, begins], format)
    has(t, Object.fromEntries(made.headers), { 'x-content-type-options': 'nosniff', 'x-frame-options': 'SAMEORIGIN' })
    contains(t, made.headers.get('content-disposition'), begins === 'PK' ? 'attachment' : 'inline')
    const policy = made.headers.get('content-security-policy') ?? ''
    contains(t, policy, 'default-src \'none\'')
    contains(t, policy, 'frame-ancestors \'self\'')
    t.equal(policy.startsWith('sandbox; '), type !== 'application/pdf', format)
  }
  const unknown = await open('/templates/1/preview?format=ODT', cookie)
  t.same([unknown.status, unknown.headers.get('content-type')], [400, 'text/plain; charset=utf-8'])
})

await t.test('what cannot be saved stays as it was written, with each fault beside its text', async (t) => {
  const source = `name: Own\nservice: file\nlocale: en\nbody:\n  - paragraph: "{{ nmae }} ${markup}"\n`
  for (const action of ['', '/check', '/preview']) {
    const { status, body } = await post(`${at}/edit${action}`, texts({ source, sample: '{ "nam": 1 }' }), cookie)
    t.equal(status, 422, action)
    contains(t, body, 'Line 5, column 5:')
    contains(t, body, 'did you mean &quot;name&quot;')
    contains(t, body, '{{ nmae }} &lt;img src=x')
    contains(t, body, '{ &quot;nam&quot;: 1 }')
    lacks(t, body, markup)
    t.same([...body.matchAll(/<textarea id="f-(\w+)"[^>]* aria-invalid="true"/g)].map(([, name]) => name), ['source', 'sample'], action)
  }
  const unreadable = await post(`${at}/edit`, texts({ schema: '{ "type":', greeting: 'kept' }), cookie)
  t.equal(unreadable.status, 400)
  contains(t, unreadable.body, '{ &quot;type&quot;:</textarea>')
  contains(t, unreadable.body, 'kept')
  contains(t, unreadable.body, 'Line 1, column 10:')
  const misplaced = (await post(`${at}/edit/check`, texts({ sample: '{\n  "name": "Ada",\n}' }), cookie)).body
  contains(t, misplaced, /<li data-line="3" data-column="1">Line 3, column 1: [^<]+ <code>}<\/code>/)
  t.same([...unreadable.body.matchAll(/id="f-(\w+)-wrong"/g)].map(([, name]) => name), ['schema'])
  t.equal(await newest(), 1)
})

await t.test('the services that a template is also made for are a choice, which writes the list in its source', async (t) => {
  const chosen = (page: string): string[] => [...page.matchAll(/name="alsoFor" value="(\w+)" checked/g)].map(([, name = '']) => name)
  const sourceOf = (page: string): string => /name="source"[^>]*>\n([^<]*)</.exec(page)?.[1]?.replaceAll('&quot;', '"') ?? ''
  const check = async (source: string, listed: string, ...choice: string[]): Promise<{ listed: string[], source: string }> => {
    const { body } = await post(`${at}/edit/check`, [
      ...Object.entries(texts({ source, listed })),
      ...choice.map((name): [string, string] => ['alsoFor', name])
    ], cookie)
    return { listed: chosen(body), source: sourceOf(body) }
  }
  const yaml = letterYaml('Own')
  const withList = (list: string): string => yaml.replace(/^service: .*\n/m, (line) => `${line}${list}`)
  t.same(await check(yaml, ''), { listed: [], source: yaml }, 'nothing chosen, nothing written')
  t.same(await check(yaml, '', 'postal', 'email'), { listed: ['postal', 'email'], source: withList('alsoFor: [postal, email]\n') })
  for (const list of ['alsoFor: [email, sms] # for both\n', 'alsoFor:\n  - sms\n  - email\n', 'alsoFor:\n- email\n- sms\n']) {
    t.same(await check(withList(list), '', ...[]), { listed: ['sms', 'email'], source: withList(list) }, 'the source says it')
    t.same(await check(withList(list), 'email sms', 'email'), { listed: ['email'], source: withList('alsoFor: [email]\n') })
    t.same(await check(withList(list), 'email sms'), { listed: [], source: yaml })
  }
  const saved = await post('/templates/new', [...Object.entries(texts({ source: letterYaml('Also') })), ['alsoFor', 'sms']], cookie)
  const address = (saved.headers.get('location') ?? '').replace('/console', '')
  has(t, (await send('GET', `/api/v1${address.replace(/\?.*/, '')}`)).body, { alsoFor: ['sms'] })
  contains(t, (await open(address, cookie)).body, `, ${wordFor(en, 'service', 'sms')}`)
  const french = await (await fetch(`${service.url}/console/templates/new`, { headers: { cookie, 'accept-language': 'fr' } })).text()
  contains(t, french, `<legend>${fr.templateAlsoFor}</legend>`)
})

await t.test('a check and a preview store nothing', async (t) => {
  contains(t, (await post(`${at}/edit/check`, texts(), cookie)).body, en.templateRight)
  const { status, headers, body } = await post(`${at}/edit/preview`, texts({ format: 'TEXT' }), cookie)
  t.same([status, headers.get('content-type')], [200, 'text/plain; charset=utf-8'])
  contains(t, body, 'Hello Ada')
  t.equal(await newest(), 1)
})

await t.test('a preview while one writes is the document, or else what is wrong in each text', async (t) => {
  const made = await post(`${at}/edit/live`, texts({ format: 'TEXT' }), cookie)
  t.same([made.status, made.headers.get('content-type')], [200, 'text/plain; charset=utf-8'])
  contains(t, made.headers.get('content-security-policy'), /^sandbox;/)
  contains(t, made.body, 'Hello Ada')
  const source = `${letterYaml('Own')}nonsense: "${markup}"\n`
  const { status, headers, body } = await post('/templates/new/live', texts({ source, sample: '{\n' }), cookie)
  t.same([status, headers.get('content-type'), headers.get('x-content-type-options')], [400, 'text/plain; charset=utf-8', 'nosniff'])
  t.equal(headers.get('content-security-policy'), 'default-src \'none\'; frame-ancestors \'self\'')
  const unreadable = JSON.parse(body)
  t.same([unreadable.said, unreadable.again, unreadable.faults.sample.length], [en.liveRefused, false, 1])
  has(t, unreadable.faults.sample[0], { line: 2, column: 1, place: 'Line 2, column 1:' })
  const misplaced = JSON.parse((await post(`${at}/edit/live`, texts({ source }), cookie)).body)
  has(t, misplaced.faults.source, [{ line: 5, column: 1, place: 'Line 5, column 1:', message: 'There is no field “nonsense”.' }])
  t.same([misplaced.faults.schema, misplaced.faults.sample], [[], []])
  contains(t, JSON.parse((await post(`${at}/edit/live`, texts({ format: 'ODT' }), cookie)).body).said, 'format')
  t.equal(await newest(), 1)
})

await t.test('a version is saved as a draft, compared with the one before, and published', async (t) => {
  const edited = (await open(`${at}/edit`, cookie)).body
  contains(t, edited, letterYaml('Own').replaceAll('"', '&quot;'))
  contains(t, edited, 'name="base" value="1"')
  const saved = await post(`${at}/edit`, texts(), cookie)
  t.same([saved.status, saved.headers.get('location')], [303, `/console${at}?version=2&saved=1`])
  has(t, (await send('GET', `/api/v1${at}?version=2`)).body, { status: 'draft', source: letterYaml('Own', 'Hello') })
  contains(t, (await open(`${at}?version=2&saved=1`, cookie)).body, en.templateSaved)

  const { body } = await open(`${at}/difference?from=1&to=2`, cookie)
  contains(t, body, '<del>- body: [{ paragraph: &quot;Dear {{ name }}&quot; }]</del>')
  contains(t, body, '<ins>+ body: [{ paragraph: &quot;Hello {{ name }}&quot; }]</ins>')
  contains(t, body, '  locale: en\n')
  t.equal(body.split(en.differenceNone).length - 1, 2, 'the schema and the sample are the same')
  t.equal((await open(`${at}/difference?from=1&to=9`, cookie)).status, 404)

  const published = await post(`${at}/publish`, { version: '2' }, cookie)
  t.equal(published.headers.get('location'), `/console${at}?published=2`)
  has(t, (await send('GET', `/api/v1${at}`)).body, { version: 2, status: 'published' })
  contains(t, (await open(`${at}?published=2`, cookie)).body, en.publishDone.replace('{version}', '2'))

  const stale = await post(`${at}/edit`, texts({ greeting: 'Too late' }), cookie)
  t.equal(stale.status, 409, 'somebody else has saved meanwhile')
  contains(t, stale.body, 'Too late')
  contains(t, stale.body, 'newest version is 2')
})

await t.test('who publishes a version that would refuse the latest dispatches is warned, and may do so all the same', async (t) => {
  const { body: { id: used } } = await send('POST', '/api/v1/templates', letter({ name: 'Used' }))
  await send('POST', `/api/v1/templates/${String(used)}/publish`, { version: 1 })
  const { body: { dispatchId } } = await send('POST', '/api/file', { template: { id: used, data: { name: 'Ada' } } })
  const schema = { ...letter().schema, required: ['name', 'place'], properties: { name: { type: 'string' }, place: { type: 'string' } } }
  const next = letter({ name: 'Used', schema, sample: { name: 'Ada', place: 'London' } })
  await send('PUT', `/api/v1/templates/${String(used)}`, { baseVersion: 1, ...next })
  const versionNow = async (): Promise<unknown> => (await send('GET', `/api/v1/templates/${String(used)}`)).body.version
  const warned = await post(`/templates/${String(used)}/publish`, { version: '2' }, cookie)
  t.equal(warned.status, 200)
  contains(t, warned.body, en.publishRefused.replace('{checked}', '1').replace('{refused}', '1'))
  contains(t, warned.body, `<a href="/console/dispatches/${String(dispatchId)}">${String(dispatchId)}</a>: <em>Place</em> Fill this in.`)
  t.equal(await versionNow(), 1)
  const published = await post(`/templates/${String(used)}/publish`, { version: '2', ':confirmed': 'true' }, cookie)
  t.equal(published.status, 303)
  t.equal(await versionNow(), 2)
  t.equal((await post(`/templates/${String(used)}/publish`, { version: '1' }, cookie)).status, 303, 'nothing speaks against it')
  t.equal((await post(`/templates/${String(used)}/publish`, { version: 'x' }, cookie)).status, 400)
})

await t.test('versions that differ in nearly every line are not compared line by line', async (t) => {
  const lines = (word: string): string => `${letterYaml('Long')}# ${Array.from({ length: 1100 }, (_, n) => `${word}${n}`).join('\n# ')}\n`
  const { body: { id: long } } = await send('POST', '/api/v1/templates', letter({ source: lines('a') }))
  await send('PUT', `/api/v1/templates/${String(long)}`, { baseVersion: 1, ...letter({ source: lines('b') }) })
  contains(t, (await open(`/templates/${String(long)}/difference?from=1&to=2`, cookie)).body, en.differenceMuch)
})

await t.test('a new template begins with one that is right; a shared one is copied; remarks stand beside their text', async (t) => {
  const begun = (await open('/templates/new', cookie)).body
  contains(t, begun, 'name: Letter')
  const { source, schema, sample } = (await send('GET', '/api/v1/templates/1')).body
  const copy = (await open('/templates/new?from=1', cookie)).body
  contains(t, copy, 'documentType: INVOICE')
  lacks(t, copy, 'id: 1')
  contains(t, copy, 'action="/console/templates/new"')
  const fields = { source, schema: JSON.stringify(schema), sample: JSON.stringify(sample) }
  const saved = await post('/templates/new', fields, cookie)
  t.equal(saved.status, 200)
  contains(t, saved.body, en.templateWarnings)
  contains(t, saved.body, 'id="f-source-wrong"')
  contains(t, saved.body, 'name="base" value="1"')
  const created = await post('/templates/new', texts({ name: 'Fresh' }), cookie)
  t.equal(created.status, 303)
  const taken = await post('/templates/new', texts({ name: 'Fresh' }), cookie)
  t.equal(taken.status, 409)
  contains(t, taken.body, '&quot;Fresh&quot; already')
})

await t.test('a member reads and previews; only an admin writes, and only from the console', async (t) => {
  const { body, status } = await open(at, memberCookie)
  t.equal(status, 200)
  lacks(t, body, `action="/console${at}`)
  lacks(t, body, `${at}/edit`)
  for (const path of [`${at}/edit`, '/templates/new']) t.equal((await open(path, memberCookie)).status, 403, path)
  const writing = [`${at}/edit`, `${at}/edit/check`, `${at}/edit/preview`, `${at}/edit/live`, `${at}/publish`, `${at}/remove`,
    '/templates/new', '/templates/new/check', '/templates/new/preview', '/templates/new/live']
  for (const path of writing) {
    t.equal((await confirm(path, texts({ version: '1' }), memberCookie)).status, 403, path)
    t.equal((await post(path, texts({ version: '1' }), cookie, { 'sec-fetch-site': 'cross-site' })).status, 403, path)
  }
  t.equal(await newest(), 2)
})

await t.test('a template of another company is not there', async (t) => {
  const other = await signIn((await service.company('others')).admin)
  for (const path of ['', '/preview', '/difference?from=1&to=2', '/edit']) t.equal((await open(at + path, other)).status, 404, path)
  for (const path of ['/publish', '/remove', '/edit']) {
    t.equal((await post(at + path, texts({ version: '1', base: '2' }), other)).status, 404, path)
  }
})

await t.test('a template is withdrawn; the pages are French too', async (t) => {
  contains(t, (await open(at, cookie, { 'accept-language': 'fr' })).body, fr.templateRemove)
  t.equal((await confirm(`${at}/remove`, {}, cookie)).headers.get('location'), '/console/templates?removed=1')
  contains(t, (await open('/templates?removed=1', cookie)).body, en.templateRemoved)
  t.equal((await open(at, cookie)).status, 404)
})

await t.test('pictures are added, shown with what names them, replaced and removed, by admins alone', async (t) => {
  const multipart = (path: string, fields: Record<string, string>, file: Uint8Array | undefined, as = cookie): Promise<Response> => {
    const form = new FormData()
    for (const [name, value] of Object.entries(fields)) form.set(name, value)
    if (file !== undefined) form.set('image', new File([Uint8Array.from(file)], 'logo.png', { type: 'text/html' }))
    return fetch(`${service.url}/console${path}`, {
      method: 'POST',
      body: form,
      redirect: 'manual',
      headers: { cookie: as, 'sec-fetch-site': 'same-origin' }
    })
  }
  const png = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNoAAAAggCBd81ytgAAAABJRU5ErkJggg==', 'base64')
  const vast = Buffer.from(png)
  vast.writeUInt32BE(3_000, 16)
  vast.writeUInt32BE(3_000, 20)
  contains(t, (await open('/assets', cookie)).body, en.assetsNone)
  const added = await multipart('/assets', { name: 'logo' }, png)
  t.same([added.status, added.headers.get('location')], [303, '/console/assets/logo?saved=1'])
  contains(t, (await open('/assets', cookie)).body,
    '<a href="/console/assets/logo">logo</a></th><td>image/png</td><td class="count">1 × 1</td>')

  const { body: shown } = await open('/assets/logo', cookie)
  contains(t, shown, /<img class="picture" src="data:image\/png;base64,[\w+/=]+" alt="The picture logo">/)
  contains(t, shown, en.assetUnused)
  const source = `${letterYaml('Pictured')}assets: { logo: "asset:logo" }\n`
  const { body: { id: pictured } } = await send('POST', '/api/v1/templates', letter({ source }))
  await send('POST', '/api/v1/templates', letter({ source: `${letterYaml('Of another')}# asset:logo-2\n` }))
  const { body: used } = await open('/assets/logo', cookie)
  contains(t, used,
    `<a href="/console/templates/${String(pictured)}?version=1">Pictured</a>, Version 1 <small>(${en.version_draft})</small>`)
  lacks(t, used, 'Of another')

  t.equal((await multipart('/assets/logo', {}, png)).headers.get('location'), '/console/assets/logo?saved=1')
  for (const [path, fields, file, status, said] of [
    ['/assets', { name: 'logo' }, png, 409, 'already'],
    ['/assets', { name: 'No' }, png, 400, 'lowercase'],
    ['/assets', { name: 'text' }, Buffer.from(markup), 422, 'This is no PNG or JPEG picture: save it as one of these.'],
    ['/assets', { name: 'none' }, undefined, 422, 'no PNG or JPEG'],
    ['/assets', { name: 'cut' }, png.subarray(0, 50), 422, `not a whole PNG file. <em>${en.assetFile}</em>`],
    ['/assets', { name: 'vast' }, vast, 422, 'too many pixels: 4000000 are possible'],
    ['/company/brand/logo', {}, png.subarray(0, 50), 422, `not a whole PNG file. <em>${en.assetFile}</em>`],
    ['/company/brand/logo', {}, Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), 422, 'no PNG or JPEG'],
    ['/assets/logo', {}, Buffer.from(markup), 422, 'no PNG or JPEG'],
    ['/assets/never', {}, png, 404, '<main'],
    ['/assets', { name: 'large' }, Buffer.alloc(2 * 1024 * 1024 + 1), 413, 'A picture has 2 MiB at most']
  ] as const) {
    const answer = await multipart(path, fields, file)
    t.equal(answer.status, status, path)
    const body = await answer.text()
    contains(t, body, said)
    lacks(t, body, markup)
  }
  for (const path of ['/assets', '/assets/logo']) {
    t.equal((await open(path, memberCookie)).status, 200)
    lacks(t, (await open(path, memberCookie)).body, 'enctype')
    t.equal((await multipart(path, { name: 'mine' }, png, memberCookie)).status, 403)
  }
  t.equal((await confirm('/assets/logo/remove', {}, memberCookie)).status, 403)
  const other = await signIn((await service.company('painters')).admin)
  t.equal((await open('/assets/logo', other)).status, 404)
  t.equal((await confirm('/assets/logo/remove', {}, other)).status, 404)
  t.equal((await confirm('/assets/logo/remove', {}, cookie)).headers.get('location'), '/console/assets?removed=1')
  t.equal((await open('/assets/logo', cookie)).status, 404)
})

await t.test('a preview that cannot be made says once, in the language of the reader, what is wrong and where', async (t) => {
  const schema = { type: 'object', additionalProperties: true, required: [], properties: { total: {}, photo: { type: 'string' } } }
  const photo = 'data:image/png;base64,' +
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
  const blocks = ['image: { value: photo, height: 9, alt: Photo }', 'paragraph: "{{ total | money }}"']
  const source = `name: Failing\nservice: file\nlocale: en\nbody:\n${blocks.map((block) => `  - ${block}\n`).join('')}`
  const sample = { total: '12.00', currency: 'EUR', photo }
  const made = await send('POST', '/api/v1/templates', { source, schema, sample })
  t.equal(made.status, 201, JSON.stringify(made.body).slice(0, 500))
  await send('POST', `/api/v1/templates/${made.body.id}/publish`, { version: 1 })
  const french = { 'accept-language': 'fr', 'sec-fetch-site': 'same-origin' }
  const look = (data: object) =>
    post('/send/preview', { ':template': String(made.body.id), 'of': 'file', ':written': 'json', 'json': JSON.stringify(data) }, cookie,
      french)
  const place = (name: string): string => `${wordFor(fr, 'data', name)}${fr.colon}`
  has(t, await look({ ...sample, total: 'abc' }), { status: 422, body: `${place('total')}Il faut un nombre, comme 12.50.` })
  has(t, await look({ ...sample, photo: 'data:image/png;base64,AAAA' }), {
    status: 422,
    body: /^\/data\/photo\s: Cette image est illisible\s: ce n’est pas un fichier PNG entier\.$/
  })
})

await t.test('a template that fails names its block, before a dispatch too, and leads who may change it there', async (t) => {
  const schema = { type: 'object', properties: { a: { type: 'string' }, b: { type: 'string' } } }
  const source =
    'name: Failing inside\nservice: file\nlocale: en\nbody:\n  - paragraph: Hello\n  - if: a\n    then: [{ paragraph: "{{ b }}" }]\n'
  const made = await send('POST', '/api/v1/templates', { source, schema, sample: { b: 'x' } })
  t.equal(made.status, 201, JSON.stringify(made.body))
  const failing = made.body.id
  await send('POST', `/api/v1/templates/${String(failing)}/publish`, { version: 1 })
  const fields = { ':template': String(failing), 'of': 'file', ':written': 'json', 'json': '{ "a": "yes" }' }
  const to = `/templates/${String(failing)}/blocks?open=%2Fbody%2F1%2Fthen%2F0%2Fparagraph`
  for (const act of ['validate', 'check', 'dispatch']) {
    const { body } = await post(`/send/${act}`, fields, cookie)
    contains(t, body, 'The template shows “b” (block 2.1), but the data have no such value.', act)
    contains(t, body, `<a href="/console${to}">To the place in the template: block 2.1</a>`, act)
    lacks(t, (await post(`/send/${act}`, fields, memberCookie)).body, `/console${to}`, act)
  }
  contains(t, (await post('/send/preview', fields, `${cookie}; __Host-console-language=fr`)).body, /Le modèle montre «\sb\s» \(bloc 2\.1\)/)
  const { body } = await open(to, cookie)
  contains(t, body, 'name="open" value="/body/1/then/0"')
  contains(t, body, /value="close" aria-expanded="true"[^>]* autofocus/)
})

await t.test('a template that fails in what it includes names that, and leads there; its layout moves none of its blocks', async (t) => {
  const layout = 'header:\n  - paragraph: "{{ h }}"\nbefore:\n  - paragraph: "{{ before }}"\n'
  const shared = 'blocks:\n  - rule: {}\n  - paragraph: "{{ p }}"\n'
  await send('PUT', '/api/v1/partials/sheet', { kind: 'layout', source: layout })
  await send('PUT', '/api/v1/partials/small-print', { kind: 'partial', source: shared })
  const fields = ['h', 'first', 'before', 'p', 'own'] as const
  const schema = { type: 'object', properties: Object.fromEntries(fields.map((name) => [name, { type: 'string' }])) }
  const source = 'name: Included\nservice: file\nlocale: en\nlayout: sheet\nfirstHeader:\n  - paragraph: "{{ first }}"\nbody:\n' +
    '  - paragraph: "{{ own }}"\n  - partial: small-print\n'
  const sample: Readonly<Record<string, string>> = Object.fromEntries(fields.map((name) => [name, 'x']))
  const made = await send('POST', '/api/v1/templates', { source, schema, sample })
  t.equal(made.status, 201, JSON.stringify(made.body))
  const id = String(made.body.id)
  await send('POST', `/api/v1/templates/${id}/publish`, { version: 1 })
  for (const [missing, to, place, opened, french] of [
    ['own', `/templates/${id}/blocks?open=%2Fbody%2F0%2Fparagraph`, 'block 1', '/body/0', /\(bloc 1\)/],
    ['first', `/templates/${id}/blocks?open=%2FfirstHeader%2F0%2Fparagraph`, 'header of the first page, block 1', '/firstHeader/0',
      /première/],
    ['p', '/partials/small-print/blocks?open=%2Fblocks%2F1%2Fparagraph', 'shared part “small-print”, block 2', '/blocks/1',
      /\(bloc commun «\ssmall-print\s», bloc 2\)/],
    ['h', '/partials/sheet/blocks?open=%2Fheader%2F0%2Fparagraph', 'layout “sheet”, header, block 1', '/header/0',
      /\(mise en page «\ssheet\s», en-tête, bloc 1\)/],
    ['before', '/partials/sheet/blocks?open=%2Fbefore%2F0%2Fparagraph', 'layout “sheet”, before the text, block 1', '/before/0',
      /avant le texte/]
  ] as const) {
    const json = JSON.stringify({ ...sample, [missing]: undefined })
    const form = { ':template': id, 'of': 'file', ':written': 'json', json }
    contains(t, (await post('/send/check', form, cookie)).body, `<a href="/console${to}">To the place in the template: ${place}</a>`,
      missing)
    contains(t, (await post('/send/preview', form, `${cookie}; __Host-console-language=fr`)).body, french)
    contains(t, (await open(to, cookie)).body, `name="open" value="${opened}"`, to)
  }
})
