import { X509Certificate } from 'node:crypto'
import { generate } from 'selfsigned'
import t from 'tap'
import { SignedXml } from 'xml-crypto'
import { contains, has } from '../../../../test/support/matching.ts'
import { vendorOf } from '../../../../test/support/vendor.ts'
import { createNetwork, createPeppol, type Published } from '../index.ts'
import { invoicesIn } from '../peppol/metadata.ts'
import { zoneName } from '../peppol/name.ts'
import { nameServer, type Naptr } from './support/name-server.ts'

const now = new Date('2026-11-28T12:00:00.000Z')
const valid = { notBeforeDate: new Date('2026-01-01'), notAfterDate: new Date('2027-01-01') }
const rsa = { keyType: 'rsa', keySize: 2048, algorithm: 'sha256', ...valid } as const

type Made = { private: string, public: string, cert: string }

const signing = [{ name: 'keyUsage', digitalSignature: true, critical: true } as const]

async function certificate (name: string, by?: Made, more: object = {}, ca = false): Promise<Made> {
  return await generate([{ name: 'commonName', value: name }], {
    ...rsa,
    ...(by !== undefined && { ca: { key: by.private, cert: by.cert } }),
    extensions: ca
      ? [{ name: 'basicConstraints', cA: true, critical: true }, { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true }]
      : signing,
    ...more
  })
}

const root = await certificate('Peppol Root', undefined, {}, true)
const between = await certificate('Peppol SMP CA', root, {}, true)
const publisher = await certificate('An SMP', between)
const stranger = await certificate('A stranger')
const sameKey = { keyPair: { privateKey: publisher.private, publicKey: publisher.public } }
const agreeing = await certificate('An SMP', between, { ...sameKey, extensions: [{ name: 'keyUsage', keyAgreement: true }] })
const unlimited = await certificate('An SMP', between, { ...sameKey, extensions: [{ name: 'basicConstraints', cA: false }] })
const late = await certificate('A late SMP', between, { notAfterDate: new Date('2026-06-01') })

const zone = 'sml.example.org'
const bis = 'busdox-docid-qns::urn:oasis:names:specification:ubl:schema:xsd:Invoice-2::Invoice##urn:cen.eu:en16931:2017#compliant#' +
  'urn:fdc:peppol.eu:2017:poacc:billing:3.0::2.1'
const order = 'busdox-docid-qns::urn:oasis:names:specification:ubl:schema:xsd:Order-2::Order##urn:fdc:peppol.eu:poacc:trns:order:3::2.1'
const ownBill = bis.replace('billing:3.0', 'selfbilling:3.0')
const smp = 'http://busdox.org/serviceMetadata/publishing/1.0/'
const ids = 'http://busdox.org/transport/identifiers/1.0/'

const group = (types: readonly string[]): string =>
  `<?xml version="1.0"?><smp:ServiceGroup xmlns:smp="${smp}"><smp:ServiceMetadataReferenceCollection>${
    types.map((type) => `<smp:ServiceMetadataReference href="http://elsewhere.example/x/services/${encodeURIComponent(type)}"/>`).join('')
  }</smp:ServiceMetadataReferenceCollection></smp:ServiceGroup>`

type Endpoint = { from?: string, until?: string, profile?: string }
const metadata = (
  participant: string,
  { from = '2020-01-01T00:00:00Z', until = '', profile = 'peppol-transport-as4-v2_0' }: Endpoint = {}
): string =>
  `<SignedServiceMetadata xmlns="${smp}"><ServiceMetadata><ServiceInformation>` +
  `<id:ParticipantIdentifier xmlns:id="${ids}" scheme="iso6523-actorid-upis">${participant}</id:ParticipantIdentifier>` +
  `<id:DocumentIdentifier xmlns:id="${ids}" scheme="busdox-docid-qns">x</id:DocumentIdentifier><ProcessList><Process><ServiceEndpointList>` +
  `<Endpoint transportProfile="${profile}"><ServiceActivationDate>${from}</ServiceActivationDate>${
    until === '' ? '' : `<ServiceExpirationDate>${until}</ServiceExpirationDate>`
  }</Endpoint></ServiceEndpointList></Process></ProcessList></ServiceInformation></ServiceMetadata></SignedServiceMetadata>`

/** Signed as publishers do: enveloped, over the whole document, with the certificates in it. */
function signed (
  xml: string,
  { by = publisher, chain = [by, between], method = 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256', about = '/*' }: {
    by?: Made
    chain?: readonly Made[]
    method?: string
    about?: string
  } = {}
): string {
  const signer = new SignedXml({
    privateKey: by.private,
    signatureAlgorithm: method,
    canonicalizationAlgorithm: 'http://www.w3.org/TR/2001/REC-xml-c14n-20010315',
    getKeyInfoContent: () =>
      `<X509Data>${
        chain.map(({ cert }) => `<X509Certificate>${new X509Certificate(cert).raw.toString('base64')}</X509Certificate>`).join('')
      }</X509Data>`
  })
  signer.addReference({
    xpath: about,
    transforms: ['http://www.w3.org/2000/09/xmldsig#enveloped-signature', 'http://www.w3.org/TR/2001/REC-xml-c14n-20010315'],
    digestAlgorithm: 'http://www.w3.org/2001/04/xmlenc#sha256',
    ...(about === '/*' && { isEmptyUri: true })
  })
  signer.computeSignature(xml)
  return signer.getSignedXml()
}

const { vendor, network } = await vendorOf(t)
const records: Record<string, readonly Naptr[] | number> = {}
const names = await nameServer(t, records)
const options = { zone, authorities: [new X509Certificate(root.cert)], nameServers: [names.address], now: () => now }
const { ask } = createPeppol({ ...options, transport: network.transport })

let numbers = 0
/** A participant whose publisher answers so. */
function participant (answers: { group?: string, metadata?: (id: string) => string, records?: readonly Naptr[] | number }): {
  scheme: string
  id: string
} {
  const id = String(100_000_000 + ++numbers)
  records[zoneName(`0192:${id}`, zone)] = answers.records ?? [{ regexp: '!.*!https://smp.example!' }]
  const base = `/${encodeURIComponent(`iso6523-actorid-upis::0192:${id}`)}`
  vendor.on(`GET ${base}`, answers.group === undefined ? { status: 404 } : { text: answers.group, headers: { 'content-type': 'text/xml' } })
  if (answers.metadata !== undefined) {
    vendor.on(`GET ${base}/services/${encodeURIComponent(bis)}`, {
      text: answers.metadata(`0192:${id}`),
      headers: { 'content-type': 'text/xml' }
    })
  }
  return { scheme: '0192', id }
}
const publishing = (of: (id: string) => string, more: object = {}): Promise<Published> =>
  ask(participant({ group: group([order, bis]), metadata: of, ...more }))

await t.test('the name of a participant is that of OpenPeppol', (t) => {
  t.equal(zoneName('9915:test', 'acc.example.org'),
    'eh5boavaktmbgzyh2a63dz4qov33fvp5nsdvqklucfraayoodw6a.iso6523-actorid-upis.acc.example.org')
  t.end()
})

await t.test('a participant whose metadata are signed receives, later, or no longer', async (t) => {
  for (const [endpoint, status] of [
    [{}, 'active'],
    [{ from: '2027-01-01T00:00:00Z' }, 'upcoming'],
    [{ until: '2026-11-01T00:00:00Z' }, 'inactive'],
    [{ profile: 'busdox-transport-as2-ver1p0' }, 'inactive']
  ] as const) {
    has(t, await publishing((id) => signed(metadata(id, endpoint))), { known: { scheme: '0192', status } }, status)
  }
  t.equal(vendor.requests.at(-1)?.host, 'smp.example')
})

await t.test('the certificate of a publisher may come alone, in lines of Java, and without a purpose', async (t) => {
  const alone = createPeppol({ ...options, authorities: [new X509Certificate(between.cert)], transport: network.transport })
  const active = { known: { scheme: '0192', status: 'active' } }
  const inLines = (xml: string): string =>
    xml.replaceAll(/(?<=<(?:X509Certificate|SignatureValue)>)[^<]+/g, (text) => text.replaceAll(/.{76}/g, '$&&#13;\n'))
  const signedBy = (of: (id: string) => string): { scheme: string, id: string } => participant({ group: group([bis]), metadata: of })
  has(t, await alone.ask(signedBy((id) => signed(metadata(id), { chain: [publisher] }))), active, 'alone')
  has(t, await alone.ask(signedBy((id) => inLines(signed(metadata(id))))), active, 'in lines')
  has(t, await alone.ask(signedBy((id) => signed(metadata(id), { by: unlimited }))), active, 'no keyUsage')
})

await t.test('an authority that was renewed is found behind its certificate that is over', async (t) => {
  const keyPair = { privateKey: between.private, publicKey: between.public }
  const before = await certificate('Peppol SMP CA', root, { notAfterDate: new Date('2026-06-01'), keyPair }, true)
  has(t, await publishing((id) => signed(metadata(id), { chain: [publisher, before, between] })), { known: { status: 'active' } })
})

await t.test('metadata that would take long to check are not checked', async (t) => {
  const long = /longer than those that are signed/
  const many = /too many transforms/
  const filled = (id: string, filling: string): string => signed(metadata(id)).replace('</ServiceMetadata>', `${filling}$&`)
  has(t, await publishing((id) => filled(id, '<a/>'.repeat(2_000))), { away: long }, 'elements')
  has(t, await publishing((id) => filled(id, `<a>${'x'.repeat(64 * 1024)}</a>`)), { away: long }, 'characters')
  has(t, await publishing((id) => signed(metadata(id)).replace(/<Transform [^>]*>/, (one) => one.repeat(3))), { away: many }, 'transforms')
})

await t.test('whom the zone does not have, or whose publisher does not have them, is unknown', async (t) => {
  t.strictSame(await ask({ scheme: '0192', id: '999' }), { known: undefined })
  t.strictSame(await ask(participant({ records: [] })), { known: undefined })
  t.strictSame(await ask(participant({ records: [{ service: 'E2U+sip', regexp: '!.*!https://smp.example!' }] })), { known: undefined })
  t.strictSame(await ask(participant({})), { known: undefined })
  has(t, await ask(participant({ group: group([order]) })), { known: { status: 'inactive' } })
  t.strictSame(invoicesIn(group([ownBill, bis])), [bis], 'bills that the buyer writes are others')
  t.ok(names.requested.every((name) => name.endsWith(`.${zone}`)))
})

await t.test('what is not signed by a publisher of Peppol does not count', async (t) => {
  const wrapped = (xml: string): string =>
    xml.replace('<ServiceMetadata>',
      `<ServiceMetadata>${metadata('0192:1').replace(/^<SignedServiceMetadata[^>]*>|<\/SignedServiceMetadata>$/g, '')}`)
  const [untrusted, unfit, part, one] = [/none of a trusted authority/, /does not fit/, /not about the whole/, /not one signature/]
  const refused: [string, (id: string) => string, RegExp][] = [
    ['no signature', metadata, one],
    ['a signature of a stranger', (id) => signed(metadata(id), { by: stranger, chain: [stranger] }), untrusted],
    ['a stranger with the certificates of a publisher', (id) => signed(metadata(id), { by: stranger, chain: [publisher, between] }), unfit],
    ['a certificate that is over', (id) => signed(metadata(id), { by: late }), untrusted],
    ['a chain with a gap', (id) => signed(metadata(id), { chain: [publisher] }), untrusted],
    ['an authority', (id) => signed(metadata(id), { by: between, chain: [between] }), untrusted],
    ['a certificate for something else', (id) => signed(metadata(id), { by: agreeing }), untrusted],
    ['no certificate', (id) => signed(metadata(id), { chain: [] }), /names no certificate/],
    ['SHA-1', (id) => signed(metadata(id), { method: 'http://www.w3.org/2000/09/xmldsig#rsa-sha1' }), unfit],
    ['a changed text', (id) => signed(metadata(id)).replace('2020-01-01', '2019-01-01'), unfit],
    ['an element that was put in', (id) => wrapped(signed(metadata(id))), unfit],
    ['a signature of a part', (id) => signed(metadata(id), { about: '//*[local-name()=\'Endpoint\']' }), part],
    ['two signatures', (id) => signed(metadata(id)).replace(/<Signature .*<\/Signature>/s, (signature) => signature + signature), one],
    ['the metadata of somebody else', () => signed(metadata('0192:1')), /somebody else/],
    ['a document type', (id) => `<!DOCTYPE a [<!ENTITY x "y">]>${signed(metadata(id))}`, /no XML/],
    ['no XML', () => 'Welcome', /no XML/],
    ['another document', () => signed(`<a xmlns="${smp}"/>`), /no SignedServiceMetadata/]
  ]
  for (const [what, of, away] of refused) has(t, await publishing(of), { away }, what)
})

await t.test('who does not answer is away, and so is what may not be asked', async (t) => {
  const away = async (requested: Promise<Published>, why: RegExp): Promise<void> => {
    const said = await requested
    contains(t, 'away' in said ? said.away : JSON.stringify(said), why)
  }
  await away(ask(participant({ records: 2 })), /name servers .* \(ESERVFAIL\)/)
  await away(ask(participant({ records: [{ regexp: '!.*!http://smp.example!' }] })), /no https address/)
  const { id, scheme } = participant({ group: group([bis]) })
  const base = `GET /${encodeURIComponent(`iso6523-actorid-upis::0192:${id}`)}`
  vendor.on(base, { status: 302, headers: { location: 'https://elsewhere.example/' } })
  await away(ask({ id, scheme }), /answered 302/)
  vendor.on(base, { text: 'x'.repeat(300 * 1024) })
  await away(ask({ id, scheme }), /more than 256 KiB/)
  vendor.on(base, { cut: 'in-reply' })
  await away(ask({ id, scheme }), /./)
})

await t.test('a publisher in our own network is not called, by its address or its name', async (t) => {
  const inside = createNetwork({ resolve: () => Promise.resolve(['10.0.0.1']) })
  t.teardown(() => inside.close())
  const guarded = createPeppol({ ...options, transport: inside.transport })
  for (const host of ['10.0.0.1', '127.0.0.1', '[::1]', '169.254.169.254', 'smp.inside.example']) {
    const said = await guarded.ask(participant({ records: [{ regexp: `!.*!https://${host}!` }] }))
    contains(t, 'away' in said ? said.away : '', /not public|no permitted address|not found/, host)
  }
})
