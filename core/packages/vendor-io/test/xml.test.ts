import t from 'tap'
import { matches } from '../../../../test/support/matching.ts'
import { httpOf, vendorOf } from '../../../../test/support/vendor.ts'
import { listOf, Type } from '../../host/provider.ts'
import { parseXml, type XmlFields, xmlText } from '../http/xml.ts'
import { failureOf } from '../outcome/failure.ts'

const { vendor, network } = await vendorOf(t)
const url = 'https://api.acme.test/v1/letters'
const Anything = Type.Unknown()
const letter = { Letter: { '@id': 'L&1', To: 'Zoë <"O\'Neil">', Line: ['a', 'b\tc\nd'], Empty: '' } }

await t.test('what is written is read again', (t) => {
  for (const fields of [
    { Root: '' },
    { Root: 'text & <more>' },
    letter,
    { A: { B: { C: [{ '@n': '1', '#text': 'x' }, 'y', { D: 'z' }] } } }
  ]) t.same(parseXml(xmlText(fields)), fields)
  t.equal(xmlText({ R: { '@a': 1, yes: true, not: undefined, none: [] } }),
    '<?xml version="1.0" encoding="UTF-8"?><R a="1"><yes>true</yes></R>')
  t.end()
})

await t.test('names are read without prefix, declarations of namespaces are left out, references and CDATA are text', (t) => {
  t.same(
    parseXml(
      '<?xml version="1.0"?><s:Body xmlns:s="urn:s" xmlns="urn:x" s:mode="a"><!-- no --><Id>&#x41;&amp;</Id><![CDATA[<raw>]]></s:Body>'
    ),
    { Body: { '@mode': 'a', Id: 'A&', '#text': '<raw>' } }
  )
  t.same(Object.keys(parseXml('<__proto__><constructor>1</constructor></__proto__>') as object), ['__proto__'])
  t.end()
})

await t.test('what is not well-formed, or more than is read, is refused', (t) => {
  const bomb = '<!DOCTYPE a [<!ENTITY b "bbbb"><!ENTITY c "&b;&b;">]><a>&c;</a>'
  const foreign = '<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>'
  const deep = `${'<a>'.repeat(200)}${'</a>'.repeat(200)}`
  const many = `<a>${'<b/>'.repeat(200_001)}</a>`
  for (const [text, why] of [
    [bomb, /a document type is not read/],
    [foreign, /a document type is not read/],
    ['<a>&b;</a>', /entity/],
    ['<a><b></a>', /unmatched|unexpected close tag/i],
    ['<a', /./],
    ['<a/><b/>', /root|text data outside/i],
    ['no XML', /text data outside of root node/],
    ['<p:a/>', /unbound namespace prefix/],
    [deep, /100 levels are not read/],
    [many, /more than 200000 elements/]
  ] as const) t.throws(() => parseXml(text), { message: why }, text.slice(0, 40))
  t.end()
})

await t.test('what XML cannot carry is not sent', async (t) => {
  const before = vendor.requests.length
  for (const [xml, message] of [
    [{ A: '\u0001' }, 'XML cannot carry the character U+0001.'],
    [{ 'a b': 1 }, '"a b" is no name of an XML element or attribute.'],
    [{ A: { '@x y': 1 } }, '"x y" is no name of an XML element or attribute.'],
    [{ A: { '@x': { y: 1 } } }, 'An attribute and "#text" of XML are texts.'],
    [{ A: 1, B: 2 }, 'An XML document has one root element.'],
    [{}, 'An XML document has one root element.'],
    [{ A: [1, 2] }, 'An XML document has one root element.']
  ] as [XmlFields, string][]) {
    const failure = await httpOf(network).post(url, { xml }, Anything).then(() => undefined, failureOf)
    t.same([failure?.message, failure?.ours], [message, true])
  }
  t.equal(vendor.requests.length, before)
})

await t.test('XML and texts are sent with their type and length', async (t) => {
  vendor.answer({})
  const http = httpOf(network)
  await http.post(url, { xml: letter }, Anything)
  const { headers, body, xml } = vendor.requests.at(-1)!
  t.same(xml, letter)
  t.same([headers['content-type'], headers['content-length']], ['application/xml', String(body.byteLength)])
  await http.put(url, { text: 'a;b\nZoë;1', headers: { 'Content-Type': 'text/csv' } }, Anything)
  t.equal(vendor.requests.at(-1)?.body.toString(), 'a;b\nZoë;1')
  t.equal(vendor.requests.at(-1)?.headers['content-type'], 'text/csv')
  await http.put(url, { text: '' }, Anything)
  t.same(['content-type', 'content-length'].map((name) => vendor.requests.at(-1)?.headers[name]), ['text/plain; charset=utf-8', '0'])
})

await t.test('an answer is read as it was asked for', async (t) => {
  const http = httpOf(network)
  const Letter = Type.Object({ Letter: Type.Object({ '@id': Type.String(), Line: Type.Array(Type.String()) }) })
  vendor.answer({ xml: letter })
  const read = await http.get(url, { replyAs: 'xml' }, Letter)
  t.same(read.Letter.Line, letter.Letter.Line)
  t.equal(vendor.requests.at(-1)?.headers['accept'], 'application/xml, text/xml')
  vendor.answer({ text: '12345' })
  t.equal(await http.get(url, { replyAs: 'text' }, Type.String()), '12345')
  t.equal(await http.get(url, {}, Type.Number()), 12_345)
  vendor.answer({ text: '<a>1</a>' })
  t.equal(await http.get(url, { replyAs: 'text' }, Type.String()), '<a>1</a>')
  vendor.answer({ status: 204 })
  t.equal(await http.get(url, { replyAs: 'xml' }, Type.Null()), null)
  for (const text of ['<a>', '{"id":1}', '<!DOCTYPE a><a/>']) {
    vendor.answer({ text })
    const failure = await http.post(url, { replyAs: 'xml' }, Anything).then(() => undefined, failureOf)
    t.equal(failure?.word, 'outcome_unknown', text)
    matches(t, failure?.message, /^The answer of "api.acme.test" cannot be read as XML: /)
  }
  t.same([listOf(undefined), listOf('a'), listOf(['a', 'b'])], [[], ['a'], ['a', 'b']])
})

await t.test('an error in XML has its code and message, and a page for people has none', async (t) => {
  const errors = { at: '/Error/Code', message: '/Error/Message', map: { NoSuchKey: 'authentication_error' } } as const
  const failed = async (): Promise<unknown> => {
    const { code, message, word } = await httpOf(network, { errors }).get(url, {}, Anything).then(() => undefined, failureOf) ?? {}
    return { code, message, word }
  }
  const refused = { Error: { Code: 'NoSuchKey', Message: 'There is none.' } }
  vendor.answer({ status: 404, xml: refused })
  t.same(await failed(), { code: 'NoSuchKey', message: 'There is none.', word: 'authentication_error' })
  vendor.answer({ status: 404, text: xmlText(refused), headers: { 'content-type': 'application/problem+xml; charset=utf-8' } })
  t.same(await failed(), { code: 'NoSuchKey', message: 'There is none.', word: 'authentication_error' })
  for (const type of ['text/html', 'application/xhtml+xml']) {
    vendor.answer({ status: 404, text: xmlText(refused), headers: { 'content-type': type } })
    t.same(await failed(), { code: undefined, message: '"api.acme.test" answered 404.', word: 'provider_error' })
  }
  vendor.answer({ status: 404, text: '<Error><Code>', headers: { 'content-type': 'text/xml' } })
  t.same(await failed(), { code: undefined, message: '"api.acme.test" answered 404.', word: 'provider_error' })
})

await t.test('headers of an answer are told where they were asked for, and no others', async (t) => {
  const http = httpOf(network)
  const headers = { Location: `${url}/7`, ETag: '"x"', 'X-Request-Id': 'r1' }
  vendor.answer({ json: { id: '7' }, headers })
  t.same(await http.post(url, { replyHeaders: ['location', 'ETag', 'x-none'] }, Anything), {
    headers: { location: `${url}/7`, etag: '"x"' },
    body: { id: '7' }
  })
  t.same(await http.post(url, {}, Anything), { id: '7' })
  vendor.answer({ status: 201 })
  const Created = Type.Object({ headers: Type.Object({ location: Type.String() }), body: Type.Null() })
  const failure = await http.post(url, { replyHeaders: ['location'] }, Created).then(() => undefined, failureOf)
  t.equal(failure?.word, 'outcome_unknown')
  matches(t, failure?.message, /The field "location" is required/)
})
