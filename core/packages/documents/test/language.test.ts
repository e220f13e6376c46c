import t from 'tap'
import { contains, has } from '../../../../test/support/matching.ts'
import { compileTemplate } from '../compile/compile.ts'
import type { TemplateSource } from '../model/model.ts'
import { unknownPathFaults } from '../source/schema-paths.ts'
import { compiled, faultsOf, made, problemsOf, templateOf } from './support.ts'

const texts = {
  en: {
    invoice: 'Invoice',
    dear: 'Dear **{{ customer.name }}**,',
    page: 'Page {{ page }} of {{ pages }}',
    line: '{{ line.name }} ({{ t.invoice }})'
  },
  fr: {
    invoice: 'Facture',
    dear: 'Bonjour {{ customer.name }},',
    page: 'Page {{ page }} sur {{ pages }}',
    line: '{{ line.name }} ({{ t.invoice }})'
  }
}
const spoken = { locale: '{{ language | default: \'en\' }}', texts }

/** The message that a body becomes. */
async function said (body: TemplateSource['body'], data: object, more: Partial<TemplateSource> = spoken): Promise<string> {
  return (await made('text', compiled(body, more), data)).text
}

void t.test('a document is in the language of its data', async (t) => {
  const body = [
    { heading: '{{ t.invoice }} {{ number }}' },
    { paragraph: '{{ t.dear }}' },
    { each: 'lines', as: 'line', do: [{ paragraph: '{{ t.line }}' }] }
  ]
  const data = { number: 7, customer: { name: 'Ada *x*' }, lines: [{ name: 'Tea' }] }
  t.equal(await said(body, data), 'Invoice 7\nDear Ada *x*,\nTea (Invoice)')
  t.equal(await said(body, { ...data, language: 'fr' }), 'Facture 7\nBonjour Ada *x*,\nTea (Facture)')
  t.equal(await said(body, { ...data, language: 'fr-CA' }), 'Facture 7\nBonjour Ada *x*,\nTea (Facture)',
    'the language of a region without texts of its own')
  t.equal(await said(body, { ...data, language: 'FR_ca' }), 'Facture 7\nBonjour Ada *x*,\nTea (Facture)', 'as Java writes a tag')
  const chinese = {
    locale: '{{ language }}',
    texts: { en: { hello: 'Hello' }, 'zh-Hans': { hello: '你好' }, 'zh-Hant': { hello: '您好' } }
  }
  for (const [language, hello] of [['zh-TW', '您好'], ['zh-Hant-HK', '您好'], ['zh', '你好'], ['zh-SG', '你好'], ['en-AU',
    'Hello']] as const)
  {
    t.equal(await said([{ paragraph: '{{ t.hello }}' }], { language }, chinese), hello, language)
  }
})

void t.test('amounts, dates and countries follow the language', async (t) => {
  const body = [{ paragraph: '{{ total | money }} {{ date | date: "long" }} {{ country | country }}' }]
  const data = { total: '1234.5', date: '2026-03-14', country: 'DE' }
  const shown: Record<string, string> = {
    en: '€1,234.50 March 14, 2026 Germany',
    fr: '1 234,50 € 14 mars 2026 Allemagne',
    de: '1.234,50 € 14. März 2026 Deutschland',
    pl: '1234,50 € 14 marca 2026 Niemcy',
    el: '1.234,50 € 14 Μαρτίου 2026 Γερμανία',
    ja: '€1,234.50 2026年3月14日 ドイツ'
  }
  for (const [language, text] of Object.entries(shown)) {
    t.equal(await said(body, { ...data, language }, { locale: '{{ language }}' }), text, language)
  }
})

void t.test('words are values too, in expressions and conditions, in tags and behind filters', async (t) => {
  const body = [
    { keyValues: { entries: [{ label: '{{ t.invoice }}', value: 't.invoice' }] } },
    { paragraph: '{{ t.invoice | upcase }}' },
    { paragraph: '{% if number %}{{ t.dear }}{% endif %}' },
    { if: 't.invoice == \'Facture\'', then: [{ paragraph: 'fr' }] }
  ]
  t.equal(await said(body, { language: 'fr', number: 1, customer: { name: 'Ada' } }), 'Facture: Facture\nFACTURE\nBonjour Ada,\nfr')
})

void t.test('words of headers and footers know the numbers of the pages', async (t) => {
  const { html } = await made('html', compiled([{ paragraph: 'x' }], { ...spoken, footer: [{ paragraph: '{{ t.page }}' }] }), {
    language: 'fr'
  })
  contains(t, html, 'Page 1 sur 1')
})

void t.test('a language that the texts do not have, and a word that is none, are refused at their place in the data', async (t) => {
  const body = [{ paragraph: '{{ t.invoice }}' }]
  has(t, await problemsOf(body, { language: 'de' }, spoken), [{
    path: '/language',
    code: 'unknown_language',
    message: /no texts for "de".*en, fr/
  }])
  has(t, await problemsOf(body, { language: 'not a language' }, spoken), [{
    path: '/language',
    code: 'unknown_language',
    message: /is not a language tag/
  }])
  has(t, await problemsOf(body, { language: 'x'.repeat(10_000) }, { locale: '{{ language }}' }), [{ path: '/language' }])
  has(t, await problemsOf([{ paragraph: 'x' }], {}, { locale: '{{ language }}' }), [{ path: '/language', code: 'missing_value' }])
})

void t.test('a locale of the template itself is checked with the template', (t) => {
  const body = [{ paragraph: 'x' }]
  has(t, faultsOf(body, { locale: 'not a language' }), [{ path: '/locale', message: /is not a language tag/ }])
  has(t, faultsOf(body, { locale: 'de', texts }), [{ path: '/locale', message: /no texts for "de"/ }])
  t.same(faultsOf(body, { locale: 'en-GB', texts }), [])
  t.end()
})

void t.test('a word that is missing is a fault of the template, in any language', (t) => {
  const body = [{ paragraph: '{{ t.invoice }}' }]
  t.same(
    faultsOf(body, { ...spoken, texts: { ...texts, de: { ...texts.en, extra: 'x', invoice: 'Rechnung' } } }).map(({ path, message }) =>
      `${path} ${message}`
    ),
    [
      '/texts/en The language "en" has no text "extra", which "de" has.',
      '/texts/fr The language "fr" has no text "extra", which "de" has.'
    ]
  )
  has(t, faultsOf([{ paragraph: '{{ t.invoise }}' }], spoken), [{
    path: '/body/0/paragraph',
    message: /"texts" has no "invoise" \(did you mean "invoice"\?\)/
  }])
  has(t, faultsOf([{ paragraph: '{{ t.invoise | upcase }}' }], spoken), [{ path: '/body/0/paragraph', message: /no "invoise"/ }])
  has(t, faultsOf([{ paragraph: '{{ t.dear | upcase }}' }], spoken), [{
    path: '/body/0/paragraph',
    message: /only be shown as a whole, as \{\{ t\.dear \}\}/
  }])
  has(t, faultsOf([{ each: 'lines', as: 't', do: [] }], spoken), [{ path: '/body/0/as', message: /reserved for the texts/ }])
  t.end()
})

void t.test('what words read of the data is checked once, like any expression', (t) => {
  const { reads } = compileTemplate(templateOf([{ paragraph: '{{ t.dear }}' }], spoken))
  const schema = { type: 'object', properties: { language: { type: 'string' }, customer: { type: 'object', properties: {} } } }
  has(t, unknownPathFaults(schema, reads), [{ path: '/body/0/paragraph', message: /no "customer.name"/ }])
  t.equal(unknownPathFaults(schema, reads).length, 1)
  t.end()
})

void t.test('without texts, t is a field of the data', async (t) => {
  t.equal(await said([{ paragraph: '{{ t.invoice }}' }], { t: { invoice: 'field' } }, {}), 'field')
  t.equal(await said([{ paragraph: '{{ t.invoice }}' }], { t: { invoice: 'field' } }), 'Invoice', 'with texts it is not')
})
