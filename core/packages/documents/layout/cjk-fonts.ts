import { createRequire } from 'node:module'

/**
 * Fonts for Chinese, Japanese and Korean: packages that an operator may install, by language. They contain Latin letters too, and are tried
 * last.
 */
const packages = {
  ja: { name: '@expo-google-fonts/noto-sans-jp', file: 'NotoSansJP' },
  zh: { name: '@expo-google-fonts/noto-sans-sc', file: 'NotoSansSC' },
  'zh-Hant': { name: '@expo-google-fonts/noto-sans-tc', file: 'NotoSansTC' },
  ko: { name: '@expo-google-fonts/noto-sans-kr', file: 'NotoSansKR' }
} as const
export type CjkLanguage = keyof typeof packages

const languages: readonly CjkLanguage[] = ['ja', 'zh', 'zh-Hant', 'ko']

/** Letters of these languages, their signs and their full-width forms. */
const wide = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}\u3000-\u303f\uff00-\uffef]/u

/** The language that decides the forms of shared characters in a locale: Japanese, unless the locale is Chinese or Korean. */
export function cjkLanguageOf (locale: string): CjkLanguage {
  const { language, script } = new Intl.Locale(locale).maximize()
  if (language === 'zh' && script === 'Hant') return 'zh-Hant'
  return languages.find((known) => known === language) ?? 'ja'
}

/** The files of the installed fonts, with that of the language first. */
export function cjkFonts (language: CjkLanguage, bold: boolean): string[] {
  return ordered(language).map((known) => fileOf(known, bold)).filter(isInstalled)
}

function ordered (first: CjkLanguage): CjkLanguage[] {
  return [first, ...languages.filter((other) => other !== first)]
}

function fileOf (language: CjkLanguage, bold: boolean): string {
  const { name, file } = packages[language]
  const weight = bold ? '700Bold' : '400Regular'
  return `${name}/${weight}/${file}_${weight}.ttf`
}

/** The package to install for missing characters, if they belong to these languages. */
export function cjkFontPackageFor (characters: readonly string[], locale: string): string | undefined {
  if (!characters.some((character) => wide.test(character))) return undefined
  const isKorean = characters.some((character) => /\p{Script=Hangul}/u.test(character))
  const missing = ordered(isKorean ? 'ko' : cjkLanguageOf(locale)).find((known) => !isInstalled(fileOf(known, false)))
  return missing === undefined ? undefined : packages[missing].name
}

const known = new Map<string, boolean>()

function isInstalled (path: string): boolean {
  const answer = known.get(path) ?? resolves(path)
  known.set(path, answer)
  return answer
}

function resolves (path: string): boolean {
  try {
    createRequire(import.meta.url).resolve(path)
    return true
  } catch {
    // Node cannot check without an exception whether an optional package is installed.
    return false
  }
}
