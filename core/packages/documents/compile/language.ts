import { canonicalLanguage, didYouMean, lookupLanguage } from '@dispatch/common'
import { renderError } from '../model/errors.ts'
import { memoizeLru } from '../model/memoize.ts'
import type { TemplateSource } from '../model/model.ts'
import { type CompileContext, contextBelow, hasExpressions, reportFault, type Texts } from './compile-context.ts'
import { compileProse, plainText } from './prose.ts'
import { pointerOf, type Scope } from './scope.ts'

/**
 * Compiles the locale of a template, which may be prose. It sets the scope's locale in canonical form, the language of the matching texts,
 * and these texts as `t`. Throws a RenderError when the data give an invalid locale, or one without texts.
 */
export function compileLanguage (locale: string, site: CompileContext): (scope: Scope) => Scope {
  checkTexts(site.texts, contextBelow(site, 'texts'))
  const at = contextBelow(site, 'locale')
  const start = site.reads.length
  const prose = compileProse(locale, { ...at, texts: {} })
  const path = site.reads[start]?.path
  if (!hasExpressions(locale)) return withFixed(locale, at)
  // Reading a tag takes longer than a paragraph.
  const choiceFor = memoizeLru(100, (tag) => choose(tag, site.texts))
  return (scope) => {
    const choice = choiceFor(plainText(prose(scope)))
    if ('fault' in choice) throw renderError(path === undefined ? '' : pointerOf(scope, path), 'unknown_language', choice.fault)
    return withLanguage(scope, choice, site.texts)
  }
}

/**
 * The facts about a template's language without data: the locale, and all languages. Where the data choose, the locale is the language that
 * they get without a choice, as its expression says it (`default: 'en-GB'`), else the first.
 */
export function languagesOf ({ locale, texts = {} }: Pick<TemplateSource, 'locale' | 'texts'>): { locale: string, languages: string[] } {
  const languages = Object.keys(texts)
  if (!hasExpressions(locale)) return { locale, languages }
  const [, usual = ''] = /\bdefault:\s*["']([A-Za-z0-9-]+)["']/.exec(locale) ?? []
  return { locale: usualAmong(`${usual} ${languages.join(' ')}`).language ?? languages[0] ?? locale, languages }
}

/** Which of the languages behind a tag serves it. Templates have few such lists, and to read a tag takes longer than all else of a row. */
const usualAmong = memoizeLru(100, (tagAndLanguages: string) => {
  const [usual = '', ...languages] = tagAndLanguages.split(' ')
  const tag = canonicalLanguage(usual)
  return { language: tag === undefined ? undefined : lookupLanguage(tag, languages) }
})

/** A locale in the template itself is wrong for all data, or for none. */
function withFixed (locale: string, site: CompileContext): (scope: Scope) => Scope {
  const choice = choose(locale, site.texts)
  if (!('fault' in choice)) return (scope) => withLanguage(scope, choice, site.texts)
  reportFault(site, choice.fault)
  return (scope) => scope
}

type Choice = { locale: string, language: string }

/** A locale with the language of the texts that serve it. Otherwise a sentence that says what is wrong. */
function choose (tag: string, texts: Texts): Choice | { fault: string } {
  const locale = canonicalLanguage(tag)
  if (locale === undefined) return { fault: `"${tag.slice(0, 40)}" is not a language tag (BCP 47), such as en-GB.` }
  const languages = Object.keys(texts)
  const language = lookupLanguage(locale, languages)
  if (language === undefined && languages.length > 0) {
    return { fault: `The template has no texts for "${locale}"${didYouMean(locale, languages)}; it has them for ${languages.join(', ')}.` }
  }
  return { locale, language: language ?? '' }
}

function withLanguage (scope: Scope, { locale, language }: Choice, texts: Texts): Scope {
  const words = texts[language]
  return { ...scope, locale, language, ...(words === undefined ? {} : { variables: { ...scope.variables, t: { value: words, at: '' } } }) }
}

/** A word that only some languages have would be missing in the documents of the others only. */
function checkTexts (texts: Texts, site: CompileContext): void {
  for (const [language, words] of Object.entries(texts)) {
    for (const [other, known] of Object.entries(texts)) {
      for (const name of Object.keys(known)) {
        if (!Object.hasOwn(words, name)) {
          reportFault(contextBelow(site, language), `The language "${language}" has no text "${name}", which "${other}" has.`)
        }
      }
    }
  }
}
