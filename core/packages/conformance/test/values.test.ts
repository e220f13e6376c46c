import { type Case, runConformance } from '@dispatch/conformance'
import { cp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { directory } from '../../../../test/fixtures/providers/folders.ts'

// Each provider has certificates of its own (milliseconds).
t.setTimeout(300_000)

const clerk = fileURLToPath(new URL('../../../../test/fixtures/values/clerk', import.meta.url))
const shipped = (name: string): string => fileURLToPath(new URL(`../../../../providers/${name}`, import.meta.url))

/** A good provider that is made worse in one place. `says`: what the kit finds. */
type Mutant = { name: string, of: string, file: string, from: string, to: string, says: RegExp }

const ofClerk = (name: string, from: string, to: string, says: RegExp): Mutant => ({ name, of: clerk, file: 'index.js', from, to, says })

const json = [
  'const json = { to: sms.phoneNumber, text: sms.message }',
  'return await http.post(`${api}/messages`, { bearer: settings.apiKey, json }, Made)'
].join('\n        ')
const xml = [
  'const xml = { letter: { to: { \'@name\': name, street: address, zip: postalCode, city, country } } }',
  'return await http.post(`${api}/letters`, { bearer: settings.apiKey, xml }, Made)'
].join('\n        ')

const mutants: readonly Mutant[] = [
  ofClerk('puts texts between quotation marks to make JSON', json,
    'const text = `{ "to": "${sms.phoneNumber}", "text": "${sms.message}" }`\n' +
      'return await http.post(`${api}/messages`, { bearer: settings.apiKey, headers: { "content-type": "application/json" }, text }, Made)',
    /request 1, body is no JSON: hand values to the host as they are/),
  ofClerk('puts texts between tags to make XML', xml,
    'const text = `<letter><to name="${name}"><street>${address}</street><zip>${postalCode ?? ""}</zip><city>${city}</city>' +
      '<country>${country}</country></to></letter>`\n' +
      'return await http.post(`${api}/letters`, { bearer: settings.apiKey, headers: { "content-type": "text/xml" }, text }, Made)',
    /request 1, body is no XML/),
  ofClerk('escapes for XML what the host escapes', '\'@name\': name,',
    '\'@name\': name.replaceAll(\'&\', \'&amp;\').replaceAll(\'<\', \'&lt;\'),',
    /\/postal\/recipient\/name: "zq\w+ <b>&amp; & <\/b>" reaches the vendor as "zq\w+ &lt;b>&amp;amp; &amp; &lt;\/b>" .*@name/),
  ofClerk('escapes for JSON what the host escapes', 'text: sms.message', 'text: JSON.stringify(sms.message).slice(1, -1)',
    /\/sms\/message: .*it is escaped for JSON once too often/),
  ofClerk('encodes for a URL what the host encodes', 'query: { owner: metadata.owner }',
    'query: { owner: encodeURIComponent(metadata.owner) }', /\/metadata\/owner: .*it is percent-encoded once too often/),
  ofClerk('encodes nothing in a path', 'encodeURIComponent(metadata.folder)', 'metadata.folder',
    /\/metadata\/folder: "zq\w+ \/a\?b=1#c%20d;e\+f" .* \(request 1, path\)/),
  ofClerk('reads UTF-8 as Latin-1', 'text: sms.message', 'text: Buffer.from(sms.message).toString(\'latin1\')',
    /\/sms\/message: .*its UTF-8 was read as Latin-1/),
  ofClerk('has room for Latin-1 alone', 'text: sms.message', 'text: Buffer.from(sms.message, \'latin1\').toString(\'latin1\')',
    /\/sms\/message: "zq\w+ שלום .* reaches the vendor as/),
  ofClerk('leaves out what is not ASCII', 'name: signer.lastName', 'name: signer.lastName.replaceAll(/[^ -~]/g, \'\')',
    /\/esign\/signers\/0\/lastName: "zq\w+ Müller .* reaches the vendor as "zq\w+ Mller/),
  ofClerk('cuts a text without a word', 'number,\n', 'number: number.slice(0, 20),\n', /\/data\/number: .*it is cut or changed/),
  ofClerk('joins lines without what was between them', 'notes,\n          customer', 'notes: notes.split(\'\\n\')[0],\n          customer',
    /\/data\/notes: "zq\w+ first\\nsecond zq\w+"/),
  ofClerk('writes an address in lower case', '{ address, name:', '{ address: address.toLowerCase(), name:',
    /\/email\/to\/0: "Ada\.zq\w+\+Tag@example\.org" reaches the vendor as .*it is in another case/),
  ofClerk('reads a mailbox by itself', 'const { address, name } = readMailbox(text)',
    'const [, name, address = text] = /^(.*?) *<(.*)>$/.exec(text) ?? []',
    /the name of \/email\/from: .*escaped for JSON once too often.* Hand it/),
  ofClerk('takes the quotation marks from an address', 'email: signer.email', 'email: signer.email.replaceAll(\'"\', \'\')',
    /\/esign\/signers\/0\/email: "\\"zq\w+\.\.b\\"@example\.org"/),
  ofClerk('takes every number for a French one', 'phone: signer.phoneNumber.slice(1)',
    'phone: signer.phoneNumber.replace(/^\\+(33)?/, \'33\')',
    /\/esign\/signers\/0\/phoneNumber: "\+12025550147" reaches the vendor as "3312025550147"/),
  ofClerk('drops a zero of Italy', 'to: sms.phoneNumber', 'to: sms.phoneNumber.replace(/^(\\+\\d\\d)0/, \'$1\')',
    /\/sms\/phoneNumber: "\+390698234517" .*it is another number/),
  ofClerk('writes a time as a day in UTC', 'date: Date.parse(date) / 1000',
    'date: Date.parse(new Date(data.date).toISOString().slice(0, 10)) / 1000',
    /\/data\/date: "2026-11-26T00:00:00\+14:00" does not reach the vendor, which gets "1795564800"/),
  ofClerk('sends the moment instead of the day', 'date: Date.parse(date) / 1000', 'date: Date.parse(data.date) / 1000',
    /\/data\/date: "2026-11-26T00:00:00\+14:00" does not reach the vendor/),
  ofClerk('takes every currency to have cents', 'minorUnits(line.unitPrice, currency).toFixed()', 'line.unitPrice.mul(100).toFixed()',
    /\/data\/lines\/0\/unitPrice: "1234567" JPY does not reach the vendor, which gets "123456700"/),
  ofClerk('computes with numbers of JSON', 'minorUnits(line.unitPrice, currency).toFixed()', 'String(data.lines[0].unitPrice * 100)',
    /\/data\/lines\/0\/unitPrice: "30\.3" EUR does not reach the vendor, which gets "3029\.9999999999995"/),
  ofClerk('writes a postal code that is not there', 'zip: postalCode', 'zip: `${postalCode}`',
    /XML at .*zip is "undefined": what is left out/),
  ofClerk('spells postal codes in its own way', 'zip: postalCode', 'zip: postalCode?.replaceAll(/[ -]/g, \'\')',
    /\/postal\/recipient\/postalCode: "SW1A 2AA" does not reach the vendor, which gets "SW1A2AA"/),
  ofClerk('sends every letter to France', 'city, country } }', 'city, country: \'FR\' } }',
    /\/postal\/recipient\/country: "GB" does not reach the vendor, which gets "FR"/),
  ofClerk('drops the letters of other scripts from a file name', 'encodeURIComponent(document.filename)',
    'encodeURIComponent(document.filename.replaceAll(/[^\\w. -]/g, \'_\'))',
    /\/document\/filename: .* Keep the letters and digits of a name/),
  ofClerk('refuses a text, and a validation does not say so', json,
    `if (sms.message.includes('<')) throw refused('tags', 'No tags.')\n${json}`,
    /\/sms\/message: with "zq\w+ <b>.*it is refused before anything is sent .*a validation does not say so: say it in "limits" or "check"/),
  ofClerk('ends at a text', json, `if (sms.message.includes('👩')) sms.message.nothing()\n${json}`, /\/sms\/message: with "zq\w+ 👩/),
  {
    name: 'cuts a line that none of its fixtures has',
    of: shipped('stripe'),
    file: 'customer.ts',
    from: 'line2: joined(addressLine2, addressLine3)',
    to: 'line2: joined(addressLine2, addressLine3)?.slice(0, 15)',
    says: /\/data\/customer\/addressLine2: .* it is cut or changed/
  },
  {
    name: 'takes the quotation marks from names, and has a second address',
    of: shipped('smtp'),
    file: 'index.ts',
    from: '...email,\n',
    to: '...email, to: email.to.map((to) => to.replaceAll(\'"\', \'\')),\n',
    says: /the name of \/email\/to/
  }
]

async function faultsOf (t: Test, { of, file, from, to }: Mutant): Promise<string> {
  const folder = join(await directory(t), 'mutant')
  await cp(of, folder, { recursive: true })
  const text = await readFile(join(folder, file), 'utf8')
  t.ok(text.includes(from), `${file} has ${from}`)
  await writeFile(join(folder, file), text.replace(from, () => to))
  const { cases } = await runConformance(folder, { only: ['values'] })
  return failed(cases)
}

function failed (cases: readonly Case[]): string {
  return cases.flatMap(({ status, name, why = '' }) => status === 'failed' ? [`${name}\n${why}`] : []).join('\n')
}

await t.test('a good provider passes in every form of a request', async (t) => {
  const { cases } = await runConformance(clerk, { only: ['fixtures', 'foreseen', 'replay', 'values'] })
  t.equal(failed(cases), '')
  t.same(cases.filter(({ rule }) => rule === 'values').map(({ name }) => name), [
    'send.file: 3 values that are awkward',
    'send.invoice: 6 values that are awkward',
    'send.letter: 5 values that are awkward',
    'send.mail: 6 values that are awkward',
    'send.signature: 4 values that are awkward',
    'send.sms: 2 values that are awkward'
  ])
})

for (const mutant of mutants) {
  await t.test(`a provider that ${mutant.name} fails`, async (t) => {
    const reported = await faultsOf(t, mutant)
    t.ok(mutant.says.test(reported), reported)
  })
}
