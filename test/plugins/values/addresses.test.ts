import { readFile } from 'node:fs/promises'
import t from 'tap'
import { extractText } from 'unpdf'
import { contains, has } from '../../support/matching.ts'
import { readingOf } from '../../support/reading.ts'
import { startService } from '../../support/service.ts'

const service = await startService(t)
const { outbox } = readingOf(service)
const sample = JSON.parse(await readFile(new URL('../../../templates/postal-letter/sample.json', import.meta.url), 'utf8')) as {
  recipient: Record<string, unknown>
}
const ada = { name: 'Ada Lovelace', address: '1 Main St', city: 'X' }

/** A letter whose page has the address of its recipient. */
function letterTo (address: object): object {
  const recipient = { ...ada, ...address }
  return { template: { id: 30, data: { ...sample, recipient } }, postal: { recipient } }
}
const validate = async (address: object): Promise<unknown> =>
  await service.send('POST', '/api/postal/validate', { body: letterTo(address) })

await t.test('a letter needs a postal code where addresses have one', async (t) => {
  for (const country of ['IE', 'PA', 'KE', 'NG', 'GH', 'TZ', 'TT', 'NA']) {
    has(t, await validate({ country }), { status: 200 }, country)
  }
  has(t, await validate({ country: 'FR' }), { status: 400 })
})

await t.test('usual writings of postal codes are taken', async (t) => {
  for (const [country, postalCode] of [['IE', 'D02AF30'], ['AZ', 'AZ 1000'], ['IN', '110 001'], ['SA', '12345-6789'], ['IR', '11936-53471'],
    ['JP', '1000001'], ['JP', '〒100-0001'], ['PL', '00001'], ['US', '94107 1234'], ['FR', '75 008'], ['HT', '6110'], ['XK',
    '10000']] as const)
  {
    has(t, await validate({ country, postalCode }), { status: 200 }, `${country} ${postalCode}`)
  }
  has(t, await validate({ country: 'FR', postalCode: '7500' }), { status: 422, body: { details: [{ code: 'format' }] } })
})

await t.test('a provider gets the postal code as its country writes it, and the page has the order of the country', async (t) => {
  for (const [address, line, postalCode] of [
    [{ city: 'London', postalCode: 'sw1a1aa', country: 'GB' }, 'London SW1A 1AA', 'SW1A 1AA'],
    [{ city: 'Sydney', state: 'NSW', postalCode: '2000', country: 'AU' }, 'Sydney NSW 2000', '2000'],
    [{ city: 'Paris', postalCode: '75 008', country: 'FR' }, '75008 Paris', '75008']
  ] as const) {
    const { body } = await service.send('POST', '/api/postal', { body: letterTo(address) })
    const page = await fetch(service.url + new URL(String(body.generatedDocument.url)).pathname)
    contains(t, (await extractText(new Uint8Array(await page.arrayBuffer()), { mergePages: true })).text.replaceAll('\u00a0', ' '), line)
    has(t, (await outbox()).at(-1).postal.recipient, { postalCode })
  }
})

await t.test('invoices name Kosovo in their own way', async (t) => {
  const data = JSON.parse(await readFile(new URL('../../../templates/invoice/sample.json', import.meta.url), 'utf8')) as object
  const to = async (country: string): Promise<unknown> =>
    await service.send('POST', '/api/invoicing/validate', {
      body: { documentType: 'INVOICE', template: { id: 1, data: { ...data, customer: { name: 'A', country } } } }
    })
  has(t, await to('XK'), { status: 422, body: { details: [{ code: 'unknown_country', message: /Did you mean 1A\?/ }] } })
  has(t, await to('1A'), { status: 200 })
})
