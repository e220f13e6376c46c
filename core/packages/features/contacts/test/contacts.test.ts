import { sql } from 'kysely'
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { fill, languages } from '../../../../../plugins/console/language/language.ts'
import { formIn, openConsole } from '../../../../../test/plugins/support/console.ts'
import { contains, has, lacks, matches } from '../../../../../test/support/matching.ts'
import { startService } from '../../../../../test/support/service.ts'
import { maxContacts, readOwnDetails } from '../store/contacts.ts'
import { words as en } from '../words.en.ts'

const service = await startService(t)
const { send } = service
const { admin, member } = await service.company('keeping')
const other = await service.company('elsewhere')
const { open, follow, post, signIn } = openConsole(service)
const cookie = await signIn(admin)
const ada = {
  name: 'Lovelace & Co 100%',
  contact: 'Ada Lovelace',
  email: 'ada@lovelace.example',
  phone: '+44 20 7946 0018',
  address: '12 St James Square',
  postalCode: 'SW1Y 4LE',
  city: 'London',
  country: 'GB'
}

await t.test('a contact is kept, found by a part of its name or address, changed and deleted; the log tells nobody’s name', async (t) => {
  const { status, body } = await send('POST', '/api/v1/contacts', { body: ada }, member)
  t.equal(status, 201)
  has(t, body, { ...ada, id: String })
  for (const name of ['Zeta', 'beta', 'Alpha']) await send('POST', '/api/v1/contacts', { body: { name } }, member)
  const names = async (query = ''): Promise<string[]> =>
    (await send('GET', `/api/v1/contacts${query}`, {}, admin)).body.data.map(({ name }: { name: string }) => name)
  t.strictSame(await names(), ['Alpha', 'beta', ada.name, 'Zeta'])
  for (const q of ['LOVELACE', 'ada l', '@lovelace.ex', '100%']) t.strictSame(await names(`?q=${encodeURIComponent(q)}`), [ada.name], q)
  t.strictSame(await names('?q=a%25b'), [], 'a percent sign is one')
  const first = await send('GET', '/api/v1/contacts?limit=2', {}, admin)
  t.strictSame(await names(`?limit=2&cursor=${String(first.body.nextCursor)}`), [ada.name, 'Zeta'])
  has(t, await send('PUT', `/api/v1/contacts/${String(body.id)}`, { body: { name: 'Ada' } }, admin), { status: 200, body: { name: 'Ada' } })
  t.notOk('email' in (await send('GET', `/api/v1/contacts/${String(body.id)}`, {}, admin)).body, 'what is left out is gone')
  t.equal((await send('GET', `/api/v1/contacts/${String(body.id)}`, {}, other.admin)).status, 404)
  t.equal((await send('DELETE', `/api/v1/contacts/${String(body.id)}`, {}, member)).status, 204)
  t.equal((await send('DELETE', `/api/v1/contacts/${String(body.id)}`, {}, member)).status, 404)
  for (const wrong of [{}, { name: ' ' }, { name: 'Ada', country: 'uk' }, { name: 'Ada', email: 'ada' }, {
    name: 'Ada',
    twitter: '@ada'
  }]) {
    t.equal((await send('POST', '/api/v1/contacts', { body: wrong }, member)).status, 400, JSON.stringify(wrong))
  }
  lacks(t, JSON.stringify((await send('GET', '/api/v1/audit?object=contact', {}, admin)).body), 'Lovelace')
})

await t.test('a company keeps so many contacts at most', async (t) => {
  const { owner } = service.app.get('database')
  const rows = Array.from({ length: maxContacts }, () => `(${String(other.companyId)}, '${randomUUID()}', 'x', '{}', now(), now())`)
  await sql.raw(`insert into contacts values ${rows.join(',')}`).execute(owner)
  has(t, await send('POST', '/api/v1/contacts', { body: { name: 'One more' } }, other.admin), { status: 409, body: { error: 'conflict' } })
})

await t.test('forms begin with who the company is, and fill themselves with a contact', async (t) => {
  const seller = { name: 'Keeping Ltd', address: '1 Own Street', city: 'Cork', country: 'IE' }
  const set = await post('/company/details', {
    ...Object.fromEntries(Object.entries(seller).map(([name, value]) => [`seller.${name}`, value])),
    'bankDetails.iban': 'IE29 AIBK 9311 5212 3456 78'
  }, cookie)
  t.equal(set.status, 303)
  t.strictSame((await send('GET', '/api/v1/company/details', {}, member)).body, {
    seller,
    bankDetails: { iban: 'IE29 AIBK 9311 5212 3456 78' }
  })
  t.equal((await post('/company/details', { 'seller.country': 'Ireland' }, cookie)).status, 400)
  t.equal((await send('PUT', '/api/v1/company/details', { body: {} }, member)).status, 403)
  const begun = (await follow('/send?template=1', cookie)).body
  contains(t, begun, 'name="data.seller.name" type="text" value="Keeping Ltd"')
  contains(t, begun, 'value="IE29 AIBK 9311 5212 3456 78"')
  lacks(t, begun, 'Northwind', 'nothing of the sample’s seller is left')

  await send('POST', '/api/v1/contacts', { body: ada }, member)
  const page = (await follow('/send?template=1&service=postal', cookie)).body
  contains(t, page, `<option value="Lovelace &amp; Co 100%">`)
  const draft = {
    ':template': '1',
    'of': 'postal',
    ':written': 'json',
    'json': JSON.stringify({ number: '7', customer: { name: 'x', fax: 'y' } })
  }
  const filled = (await post('/send', { ...draft, ':fill': 'recipient', ':recipient': 'lovelace' }, cookie)).body
  matches(t, filled,
    /&quot;customer&quot;: \{\s+&quot;name&quot;: &quot;Lovelace &amp; Co 100%&quot;,[^}]+&quot;city&quot;: &quot;London&quot;/)
  lacks(t, filled, 'fax')
  contains(t, filled, 'name="request.recipient.postalCode" type="text" value="SW1Y 4LE"')
  contains(t, (await post('/send', { ...draft, ':fill': 'recipient', ':recipient': 'a' }, cookie)).body,
    languages.en.fillNotFound.slice(-60))
})

await t.test('each form begins with who the company is: as a form, from an address that is permitted, and signed by its own', async (t) => {
  const { admin: own } = await service.company('filling')
  const { follow, post, signIn } = openConsole(service)
  const cookie = await signIn(own)
  const seller = {
    name: 'Filling Ltd',
    contact: 'Ines Lumen',
    email: 'ines@filling.example',
    city: 'Cork',
    address: '5 Quay',
    vatId: 'IE1'
  }
  const valuesOf = (page: unknown): Map<string, string> =>
    new Map(
      [...String(page).matchAll(/<input id="[^"]*" name="([^"]*)"[^>]* value="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value])
    )
  const begin = async (query: string): Promise<Map<string, string>> => valuesOf((await follow(`/send?${query}`, cookie)).body)
  const sample = await begin('template=40')
  t.not(sample.get('request.signers.1.firstName') ?? '', '')
  has(t, await send('PUT', '/api/v1/company/details', { body: { seller } }, own), { status: 200 })
  const contact = {
    ...ada,
    name: 'Aurora SA',
    contact: 'Marie Curie',
    email: 'marie@aurora.example',
    addressLine2: 'Floor 2',
    vatId: 'FR1'
  }
  has(t, await send('POST', '/api/v1/contacts', { body: contact }, own), { status: 201 })

  const letter = await begin('template=30')
  t.same(['sender.name', 'sender.city', 'signatory.name', 'place'].map((name) => letter.get(`data.${name}`)), ['Filling Ltd', 'Cork',
    'Ines Lumen', 'Cork'])
  t.same((await begin('template=12')).get('data.sender.contact'), 'Ines Lumen')
  const contract = await begin('template=40')
  t.same([0, 1].map((index) => contract.get(`request.signers.${String(index)}.email`)), ['ada@example.com', 'ines@filling.example'])
  t.equal(contract.get('request.signers.1.lastName'), 'Lumen')
  t.equal((await begin('template=10')).get('request.from'), 'ines@filling.example')
  t.equal((await begin('template=1&then1=email')).get('then.email.from'), 'ines@filling.example')
  const settings = { host: 'mail.filling.test', user: 'u', password: 'p', allowedSenders: ['@mail.filling.example'] }
  has(t, await send('PUT', '/api/v1/company/providers/smtp', { body: { settings } }, own), { status: 200 })
  has(t, await send('PUT', '/api/v1/company/defaults/email', { body: { providerName: 'smtp' } }, own), { status: 200 })
  t.equal((await begin('template=10')).get('request.from'), '', 'the settings permit no known one, and nobody is made up')
  const { body: french } = await follow('/send?template=10', cookie, { 'accept-language': 'fr' })
  contains(t, french, fill(languages.fr.sendSenders, { senders: '@mail.filling.example' }))
  contains(t, (await follow('/send?template=1&then1=email', cookie)).body,
    fill(languages.en.sendSenders, { senders: '@mail.filling.example' }))
  const ofReader = { ...settings, allowedSenders: [own.email.slice(own.email.indexOf('@')).toUpperCase()] }
  has(t, await send('PUT', '/api/v1/company/providers/smtp', { body: { settings: ofReader } }, own), { status: 200 })
  t.equal((await begin('template=10')).get('request.from'), own.email, 'the reader may')

  has(t, await send('PUT', '/api/v1/company/details', { body: { seller: { ...seller, contact: undefined } } }, own), { status: 200 })
  const unsigned = await begin('template=40')
  t.same(['email', 'firstName', 'lastName'].map((name) => unsigned.get(`request.signers.1.${name}`)),
    ['email', 'firstName', 'lastName'].map((name) => sample.get(`request.signers.1.${name}`)), 'no company signs as a person')
  const { body: page } = await follow('/send?template=30', cookie)
  const sent = { ...formIn(String(page)), ':fill': 'recipient', ':recipient': 'Aurora' }
  const filled = valuesOf((await post('/send', sent, cookie)).body)
  for (const place of ['data', 'request']) {
    t.same(['company', 'name', 'city'].map((name) => filled.get(`${place}.recipient.${name}`)), ['Aurora SA', 'Marie Curie', 'London'],
      place)
  }
  t.equal(filled.get('data.sender.name'), 'Filling Ltd')
})

await t.test('who the company is has not changed where it is saved as it stands', async (t) => {
  const { admin: own, companyId } = await service.company('unchanged')
  const since = async (name: string): Promise<Date | undefined> => {
    has(t, await send('PUT', '/api/v1/company/details', { body: { seller: { name } } }, own), { status: 200 })
    return (await readOwnDetails(service.app.get('database'), companyId)).since
  }
  const first = await since('Unchanged Ltd')
  t.same(await since('Unchanged Ltd'), first)
  t.ok((await since('Changed Ltd') ?? 0) > (first ?? 0))
})

await t.test('contacts that are ticked are deleted together, once it was asked', async (t) => {
  const { admin: own } = await service.company('ticking')
  const { open, post, confirm, signIn } = openConsole(service)
  const cookie = await signIn(own)
  const ids: string[] = []
  for (const name of ['Ada', 'Bob', 'Eve']) ids.push((await service.send('POST', '/api/v1/contacts', { body: { name } }, own)).body.id)
  const [ada = '', bob = '', eve = ''] = ids
  matches(t, (await open('/contacts', cookie)).body, new RegExp(`<input type="checkbox" form="many" name="row-${eve}" value="${eve}"`))
  const ticked = { [`row-${ada}`]: ada, [`row-${bob}`]: bob }
  const requested = await post('/contacts/chosen/delete', ticked, cookie)
  matches(t, requested.body, /<dd>2<\/dd>/)
  const names = async (): Promise<string[]> =>
    (await service.send('GET', '/api/v1/contacts', {}, own)).body.data.map(({ name }: { name: string }) => name)
  t.strictSame(await names(), ['Ada', 'Bob', 'Eve'])
  await service.send('DELETE', `/api/v1/contacts/${bob}`, {}, own)
  matches(t, (await confirm('/contacts/chosen/delete', ticked, cookie)).body, /Done: 1 of 2\./)
  t.strictSame(await names(), ['Eve'])
  t.equal((await post('/contacts/chosen/delete', {}, cookie)).status, 422, 'nothing was ticked')
})

await t.test('the console lists, adds and changes contacts; what is deleted can be brought back', async (t) => {
  t.equal((await post('/contacts', { name: 'Grace Hopper', city: 'Arlington' }, cookie)).status, 303)
  const list = (await open('/contacts?q=hopper', cookie)).body
  contains(t, list, 'Arlington')
  const [, id = ''] = /\/console\/contacts\/([\w-]{36})"/.exec(list) ?? []
  const refused = await post(`/contacts/${id}`, { name: 'Grace', country: 'usa' }, cookie)
  t.equal(refused.status, 400)
  contains(t, refused.body, 'value="usa"')
  const long = await post('/contacts', { name: 'x'.repeat(100_000) }, cookie)
  t.equal(long.status, 413)
  contains(t, long.body, languages.en.faultTooLarge)
  const gone = (await post(`/contacts/${id}/delete`, {}, cookie)).body
  contains(t, gone, en.contactDeleted.replace('{name}', 'Grace Hopper'))
  const [, kept = ''] = /name=":contact" value="([^"]*)"/.exec(gone) ?? []
  t.equal((await open(`/contacts/${id}`, cookie)).status, 404)
  t.equal((await post('/contacts', { ':contact': kept.replaceAll('&quot;', '"') }, cookie)).status, 303)
  contains(t, (await open('/contacts?q=hopper', cookie)).body, 'Arlington')
  contains(t, (await open('/contacts', await signIn(other.admin))).body, '>x</a>')
  lacks(t, (await open('/contacts', await signIn(other.admin))).body, 'Grace')
})
