import { createRequire } from 'node:module'

/**
 * A font for characters that DejaVu does not have, in the regular and bold files of its package. It is read for a text with one of its
 * `characters` only.
 */
type Fallback = { package: string, file: string, characters: RegExp }

/** A font file inside of a package, and the characters for which it is read. */
export type FontFile = { path: string, characters: RegExp }

/** Letters of these languages, their signs and their full-width forms. */
const wide =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}\u3000-\u33ff\ufe30-\ufe4f\uff00-\uffef]/u

/** Thai letters and emoji: installed with the service. */
const small: readonly Fallback[] = [
  { package: 'noto-sans-thai', file: 'NotoSansThai', characters: /[\u0e00-\u0e7f]/ },
  { package: 'noto-emoji', file: 'NotoEmoji', characters: /[\p{Emoji}\p{Emoji_Component}]/u }
]

/** Devanagari letters, combining marks and signs of currencies. It is the last one, because it has something for every text. */
const manifold: Fallback = { package: 'noto-sans', file: 'NotoSans', characters: /^/ }

/** Chinese, Japanese and Korean, by language: packages that an operator may install. They contain Latin letters too. */
const cjk = {
  ja: { package: 'noto-sans-jp', file: 'NotoSansJP', characters: wide },
  zh: { package: 'noto-sans-sc', file: 'NotoSansSC', characters: wide },
  'zh-Hant': { package: 'noto-sans-tc', file: 'NotoSansTC', characters: wide },
  ko: { package: 'noto-sans-kr', file: 'NotoSansKR', characters: wide }
} as const
export type CjkLanguage = keyof typeof cjk

const languages: readonly CjkLanguage[] = ['ja', 'zh', 'zh-Hant', 'ko']

/** Other scripts that an operator may install, each with the letters that fontkit shapes as HarfBuzz does. */
const scripts: readonly Fallback[] = [
  { package: 'noto-sans-bengali', file: 'NotoSansBengali', characters: /\p{Script=Bengali}/u },
  { package: 'noto-sans-ethiopic', file: 'NotoSansEthiopic', characters: /\p{Script=Ethiopic}/u },
  { package: 'noto-sans-gujarati', file: 'NotoSansGujarati', characters: /\p{Script=Gujarati}/u },
  { package: 'noto-sans-gurmukhi', file: 'NotoSansGurmukhi', characters: /\p{Script=Gurmukhi}/u },
  { package: 'noto-sans-kannada', file: 'NotoSansKannada', characters: /\p{Script=Kannada}/u },
  { package: 'noto-sans-khmer', file: 'NotoSansKhmer', characters: /\p{Script=Khmer}/u },
  { package: 'noto-sans-malayalam', file: 'NotoSansMalayalam', characters: /\p{Script=Malayalam}/u },
  { package: 'noto-sans-sinhala', file: 'NotoSansSinhala', characters: /\p{Script=Sinhala}/u },
  { package: 'noto-sans-tamil', file: 'NotoSansTamil', characters: /\p{Script=Tamil}/u },
  { package: 'noto-sans-telugu', file: 'NotoSansTelugu', characters: /\p{Script=Telugu}/u }
]

/** The language that decides the forms of shared characters in a locale: Japanese, unless the locale is Chinese or Korean. */
export function cjkLanguageOf (locale: string): CjkLanguage {
  return cjkLanguageIn(locale) ?? 'ja'
}

function cjkLanguageIn (locale: string): CjkLanguage | undefined {
  const { language, script } = new Intl.Locale(locale).maximize()
  if (language === 'zh' && script === 'Hant') return 'zh-Hant'
  return languages.find((known) => known === language)
}

/** The files of the installed fonts in the order in which they are tried; of wide characters, that of the language first. */
export function fallbackFonts (language: CjkLanguage, bold: boolean): FontFile[] {
  return [...small, ...ordered(language).map((known) => cjk[known]), ...scripts, manifold]
    .map((font) => ({ path: fileOf(font, bold), characters: font.characters }))
    .filter(({ path }) => isInstalled(path))
}

/** The packages that are not installed, and may have characters that are missing. */
export function fontPackagesFor (characters: readonly string[], locale: string): string[] {
  const isMissing = (font: Fallback): boolean => !isInstalled(fileOf(font, false))
  const needed = scripts.filter((font) => characters.some((character) => font.characters.test(character)))
  const wideOnes = characters.filter((character) => wide.test(character))
  const next = wideOnes.length === 0 ? undefined : ordered(languageOf(wideOnes, locale)).map((known) => cjk[known]).find(isMissing)
  return [...needed.filter(isMissing), ...(next === undefined ? [] : [next])].map(nameOf)
}

/** The language whose font has most of these characters. Without a sign of it, Chinese, whose font has the most. */
function languageOf (characters: readonly string[], locale: string): CjkLanguage {
  if (characters.some((character) => /\p{Script=Hangul}/u.test(character))) return 'ko'
  if (characters.some((character) => /[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(character))) return 'ja'
  return cjkLanguageIn(locale) ?? 'zh'
}

function ordered (first: CjkLanguage): CjkLanguage[] {
  return [first, ...languages.filter((other) => other !== first)]
}

function nameOf (font: Fallback): string {
  return `@expo-google-fonts/${font.package}`
}

function fileOf (font: Fallback, bold: boolean): string {
  const weight = bold ? '700Bold' : '400Regular'
  return `${nameOf(font)}/${weight}/${font.file}_${weight}.ttf`
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
