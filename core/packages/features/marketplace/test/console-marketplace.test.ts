import { buildCatalog, buildingFile, catalogFile, makeKeys, signCatalog } from '@dispatch/marketplace'
import { sql } from 'kysely'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { fill } from '../../../../../plugins/console/language/language.ts'
import { openConsole } from '../../../../../test/plugins/support/console.ts'
import { packed, type Packing } from '../../../../../test/support/adapters.ts'
import { contains, has, lacks } from '../../../../../test/support/matching.ts'
import { quickRenderer } from '../../../../../test/support/quick-renderer.ts'
import { admin, type Answer, invoiceRequest, operator, startService } from '../../../../../test/support/service.ts'
import { words as en } from '../words.en.ts'

const service = await startService(t, { replacements: { renderer: quickRenderer }, config: { prices: { invoicing: 0 } } })
const { send } = service
const { confirm, open, post, signIn } = openConsole(service)
const [asOperator, asAdmin] = [await signIn(operator), await signIn(admin)]
const markup = '"><img src=x onerror=alert(1)><script>alert(1)</script>'

const add = (packing: Packing): Promise<Answer> =>
  send('POST', '/api/v1/marketplace/packages', { body: { package: Buffer.from(packed(packing)).toString('base64') } }, operator)
const read = async (): Promise<Answer['body']> => (await send('GET', '/api/v1/marketplace/acme', {}, operator)).body
const dispatched = async (): Promise<unknown> => {
  const { body } = await send('POST', '/api/invoicing', { body: invoiceRequest({}, { providerName: 'acme' }) })
  return body.providerResponse?.status
}
/** Sends a form as the page shows it, with its hidden fields. */
async function submit (action: string, cookie = asOperator, path = ''): Promise<Answer> {
  const { body } = await open(`/marketplace/acme${path}`, cookie)
  const [, form = ''] = new RegExp(`<form method="post" action="/console/marketplace/acme/${action}">([^]*?)</form>`).exec(body) ?? []
  if (form === '') throw new TypeError(`The page has no form ${action}: ${body}`)
  const fields = [...form.matchAll(/type="hidden" name="([^"]*)" value="([^"]*)"/g)]
    .map(([, name = '', value = '']): [string, string] => [name, value])
  return confirm(`/marketplace/acme/${action}`, fields, cookie)
}

await t.test('an operator installs with the consent that the page shows, and a company configures and dispatches', async (t) => {
  contains(t, (await open('/marketplace', asOperator)).body, en.adaptersNone.replaceAll('"', '&quot;'))
  contains(t, (await open('/marketplace', asAdmin)).body, en.adaptersNoneOffered)
  await add({ code: 'acme', version: '1.0.0', changelog: markup, publisher: markup, conforms: 9_999 })
  const list = await open('/marketplace', asOperator)
  contains(t, list.body, /<a href="\/console\/marketplace\/acme"><strong>Sample acme<\/strong><\/a> <span class="badge calm">available/)
  const page = await open('/marketplace/acme', asOperator)
  contains(t, page.body, '<input type="hidden" name="host" value="api.acme.test">')
  contains(t, page.body, `<td>${fill(en.conformance_said_by_author, { n: 9_999 })}<div class="quiet">${en.replayedNone}</div></td>`)
  for (const { body } of [list, page]) lacks(t, body, /<img|<script>/)
  t.equal((await open('/marketplace/acme', asAdmin)).status, 404, 'what is not installed is not offered')

  t.equal((await submit('install')).headers.get('location'), '/console/marketplace/acme?done=install')
  contains(t, (await open('/marketplace/acme?done=install', asOperator)).body, en.adapterInstalled)
  t.equal((await post('/providers/acme', {}, asAdmin)).status, 303)
  t.equal(await dispatched(), '1.0.0')
  const forAdmin = await open('/marketplace/acme', asAdmin)
  t.equal(forAdmin.status, 200)
  lacks(t, forAdmin.body, 'action="/console/marketplace')
})

await t.test('an upgrade shows what more it asks for, and is refused in place without it; one click goes back', async (t) => {
  const hosts = ['api.acme.test', '*.eu.acme.test']
  const wide = '"*.eu.acme.test" is every host whose name ends with ".eu.acme.test", whoever runs it: at a cloud service also those of ' +
    'its other customers.'
  has(t, await add({ code: 'acme', version: '1.1.0', hosts, publisher: markup }), {
    body: { versions: [{ version: '1.1.0', hosts, wildcards: [wide] }, { version: '1.0.0', wildcards: [] }] }
  })
  const inWords = fill(en.wildcardHost, { suffix: '.eu.acme.test' })
  contains(t, (await open('/marketplace/acme', asOperator)).body,
    `<dt>${en.moreHosts}</dt><dd><div>*.eu.acme.test <div class="quiet">${inWords}</div></div></dd>`)
  const refused = await post('/marketplace/acme/upgrade', { version: '1.1.0', host: 'api.acme.test', service: 'invoicing' }, asOperator)
  t.equal(refused.status, 409)
  contains(t, refused.body, `It asks for the host "*.eu.acme.test". ${wide}`.replaceAll('"', '&quot;'))
  contains(t, refused.body, '<input type="hidden" name="host" value="*.eu.acme.test">', 'with the form to agree')
  t.equal((await submit('upgrade')).status, 303)
  t.equal(await dispatched(), '1.1.0')
  t.equal((await submit('rollback')).status, 303)
  has(t, await read(), { version: '1.0.0', previous: '1.1.0' })
  t.equal(await dispatched(), '1.0.0')
})

await t.test('it is offered to the companies that are ticked, disabled and enabled, and removed when nobody needs it', async (t) => {
  const { companyId } = await service.company('chosen')
  const chosen = { to: 'chosen', company: String(companyId) }
  const held = await post('/marketplace/acme/offer', chosen, asOperator)
  t.equal(held.status, 409)
  contains(t, held.body, 'Companies that use &quot;acme&quot; would not have it any more')
  contains(t, held.body, /<li>The company &quot;Demo&quot; \(\d+\) has settings for it: 1\.<\/li>/)
  const requested = await post('/marketplace/acme/offer', { ...chosen, force: 'true' }, asOperator)
  contains(t, requested.body, new RegExp(`<dt>${en.effect_stopped}</dt><dd>Demo \\(\\d+\\)</dd>`), 'it says by name whom that stops')
  t.equal((await read()).offer, 'all', 'nothing was done by asking')
  await confirm('/marketplace/acme/offer', { ...chosen, force: 'true' }, asOperator)
  t.same((await read()).offer, [companyId])
  t.equal((await open('/marketplace/acme', asAdmin)).status, 404, 'another company does not see it')
  lacks(t, (await open('/marketplace', asAdmin)).body, 'Sample acme')
  contains(t, (await open('/marketplace/acme', asOperator)).body, `name="company" value="${companyId}" checked`)
  const setup = `/companies/${String(companyId)}/setup`
  contains(t, (await open(setup, asOperator)).body, /name="provider" value="acme" checked/)
  for (const [ticked, offer] of [[{}, []], [{ provider: 'acme' }, [companyId]]] as const) {
    t.equal((await post(`${setup}/providers`, { shown: 'acme', ...ticked }, asOperator)).status, 303)
    t.same((await read()).offer, offer)
  }
  await post('/marketplace/acme/offer', { to: 'all', company: String(companyId) }, asOperator)
  t.equal((await read()).offer, 'all')
  const { owner } = service.app.get('database')
  await sql`with many as (
    insert into companies (name, created_at) select 'Many ' || n, now() from generate_series(1, 24) as n returning company_id
  ) insert into configurations (company_id, provider_code, settings, secrets, sandbox, version, updated_at)
    select company_id, 'acme', '{}', '{}', false, '1.0.0', now() from many`.execute(owner)
  contains(t, (await post('/marketplace/acme/disable', {}, asOperator)).body,
    new RegExp(`<dt>${en.effect_stopped}</dt><dd>25 settings, among them those of (?:[^,]+, ){19}[^,<]+</dd>`), 'of many it says how many')
  await sql`delete from configurations using companies where configurations.company_id = companies.company_id and name like 'Many %'`
    .execute(owner)
  contains(t, (await post('/marketplace/acme/upgrade', { version: '9.9.9', force: 'true' }, asOperator)).body,
    new RegExp(`${en.effectsUnknown}.*There is no version 9\\.9\\.9 of`), 'and that it cannot tell, and why')
  contains(t, (await post('/marketplace/acme/disable', {}, asOperator)).body, `<dt>${en.effect_stopped}</dt><dd>Demo (`)
  await submit('disable')
  t.equal((await read()).enabled, false)
  await submit('enable')
  t.equal((await read()).enabled, true)
  const refused = await submit('remove')
  t.equal(refused.status, 409)
  contains(t, refused.body, /<li>The company &quot;Demo&quot; \(\d+\) has settings for it: 1\.<\/li>/)
  await confirm('/providers/acme/remove', {}, asAdmin)
  t.equal((await submit('remove')).headers.get('location'), '/console/marketplace?removed=1')
  t.equal((await open('/marketplace/acme', asOperator)).status, 404)
})

await t.test('only operators change the marketplace, members do not see it, and forms come from the console', async (t) => {
  await add({ code: 'acme', version: '2.0.0', publisher: markup })
  const asMember = await signIn((await service.company('members')).member)
  t.equal((await open('/marketplace', asMember)).status, 403)
  lacks(t, (await open('', asMember)).body, 'href="/console/marketplace"')
  const fields = { version: '2.0.0', host: 'api.acme.test', service: 'invoicing', to: 'all' }
  for (const action of ['install', 'upgrade', 'rollback', 'enable', 'disable', 'offer', 'remove']) {
    t.equal((await post(`/marketplace/acme/${action}`, { ...fields, ':confirmed': 'true' }, asAdmin)).status, 403, action)
    t.equal((await post(`/marketplace/acme/${action}`, fields, asOperator, { 'sec-fetch-site': 'cross-site' })).status, 403, action)
  }
  t.equal((await post('/marketplace/refresh', {}, asAdmin)).status, 403)
  contains(t, (await post('/marketplace/refresh', {}, asOperator)).body, en.catalogsNone)
  t.equal((await read()).state, 'available', 'nothing was installed')
})

await t.test('two adapters that are ticked stand side by side', async (t) => {
  await add({
    code: 'beta',
    version: '1.0.0',
    hosts: ['api.beta.test'],
    settings: { type: 'object', properties: { key: { type: 'string', title: 'Key', 'x-secret': true } } }
  })
  contains(t, (await open('/marketplace', asOperator)).body,
    '<input type="checkbox" id="compare-beta" name="compare" value="beta" form="compare">')
  const { body } = await open('/marketplace?compare=acme&compare=beta', asOperator)
  const cells = [...body.matchAll(/<tr><th scope="row">([^<]*)<\/th><td>([^]*?)<\/td><td>([^]*?)<\/td><\/tr>/g)].map(([, ...cell]) => cell)
  const row = (title: string): string => cells.find(([found]) => found === title)?.slice(1).join(' | ') ?? ''
  contains(t, row('Reaches'), /api\.acme\.test.*\|.*api\.beta\.test/)
  contains(t, row(en.secretsNeeded), /^.*\| .*<span lang="en">Key<\/span>/)
  contains(t, row(en.languages), 'en | en')
  lacks(t, body, /<img|<script>alert/)
  contains(t, (await open('/marketplace?compare=acme', asOperator)).body, en.compareHow)
})

await t.test('the list is searched, and a filter that the API does not understand is said in place', async (t) => {
  contains(t,
    (await open('/marketplace?q=acme&service=invoicing&documentType=INVOICE&language=en&country=fr&state=available', asOperator)).body,
    'Sample acme')
  contains(t, (await open('/marketplace?q=nothing', asOperator)).body, en.adaptersNoneFiltered)
  const refused = await open('/marketplace?country=France', asOperator)
  t.equal(refused.status, 400)
  contains(t, refused.body, /id="f-country"[^>]*aria-invalid="true"/)
  contains(t, refused.body, en.countryHelp)
  contains(t, refused.body, 'value="FRANCE"')
})

await t.test('while a catalog is being built, operators read how far that is', async (t) => {
  const folder = t.testdir()
  const { privateKey, publicKey } = await makeKeys()
  const keyFile = join(folder, 'key.json')
  await writeFile(keyFile, JSON.stringify(publicKey))
  await writeFile(join(folder, catalogFile), await signCatalog(await buildCatalog([], { now: new Date(), days: 90 }), privateKey))
  const other = await startService(t, { config: { catalogs: [{ address: folder, keyFiles: [keyFile] }] } })
  const at = openConsole(other)
  const cookie = await at.signIn(operator)
  const told = fill(en.catalogBuilding, { done: 3, of: 12 })
  lacks(t, (await at.open('/marketplace', cookie)).body, told)
  await writeFile(join(folder, buildingFile), JSON.stringify({ pid: process.pid, done: 3, of: 12 }))
  contains(t, (await at.open('/marketplace', cookie)).body, told)
  has(t, await other.send('GET', '/api/v1/marketplace', {}, operator), { body: { building: [{ done: 3, of: 12 }] } })
  lacks(t, JSON.stringify((await other.send('GET', '/api/v1/marketplace', {}, operator)).body), folder)
  t.notOk('building' in (await other.send('GET', '/api/v1/marketplace')).body, 'nobody else does')
})
