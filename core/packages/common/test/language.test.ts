import t from 'tap'
import { canonicalLanguage, lookupLanguage } from '../language.ts'

void t.test('a tag is read in any case, with the signs of BCP 47 or of Java', (t) => {
  for (const [tag, canonical] of [['FR', 'fr'], ['fr_ca', 'fr-CA'], ['ZH-hant-tw', 'zh-Hant-TW'], ['iw', 'he'], ['es-419',
    'es-419']] as const)
  {
    t.equal(canonicalLanguage(tag), canonical, tag)
  }
  for (const none of ['', 'not a language', 'f', '12', 'en--GB']) t.equal(canonicalLanguage(none), undefined, none)
  t.end()
})

void t.test('a look-up goes from the tag to its language (RFC 4647, 3.4)', (t) => {
  const offered = ['en', 'en-GB', 'de', 'fr', 'fr-CA', 'zh-Hant']
  for (const [tag, found] of [
    ['fr-FR', 'fr'],
    ['fr-CA', 'fr-CA'],
    ['fr_ca', 'fr-CA'],
    ['en-US', 'en'],
    ['EN-gb', 'en-GB'],
    ['de-AT', 'de'],
    ['de-1996', 'de'],
    // The example of the RFC: a part of one letter goes with what follows it.
    ['zh-Hant-CN-x-private1-private2', 'zh-Hant'],
    ['es', undefined],
    ['not a language', undefined]
  ] as const) t.equal(lookupLanguage(tag, offered), found, tag)
  t.equal(lookupLanguage('fr', []), undefined)
  t.end()
})

void t.test('a tag stands for its likely script and region, too', (t) => {
  const regions = ['zh-CN', 'zh-TW', 'pt-BR', 'no']
  for (const [tag, found] of [
    ['zh', 'zh-CN'],
    ['zh-Hans-SG', 'zh-CN'],
    ['zh-Hant', 'zh-TW'],
    ['zh-HK', 'zh-TW'],
    ['pt', 'pt-BR'],
    ['pt-PT', 'pt-BR'],
    ['nb-NO', 'no'],
    ['nn', 'no']
  ] as const) t.equal(lookupLanguage(tag, regions), found, tag)
  t.equal(lookupLanguage('zh-TW', ['zh-Hans', 'zh-Hant']), 'zh-Hant')
  t.equal(lookupLanguage('sr-RS', ['sr-Latn', 'sr-Cyrl']), 'sr-Cyrl')
  t.equal(lookupLanguage('fr-CA', ['fr-FR', 'fr']), 'fr', 'not the language of another region')
  t.end()
})
