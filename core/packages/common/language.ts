/**
 * A language tag (BCP 47) in its usual form: `fr_ca` is read as `fr-CA`, `iw` as `he`. Undefined where a text is none.
 */
export function canonicalLanguage (tag: string): string | undefined {
  return localeOf(tag)?.toString()
}

/**
 * Which of the offered languages serves whoever wants `tag`, as a look-up of RFC 4647 (section 3.4) finds it: the tag itself, else the tag
 * without its last part, and so on. Each of them also stands for its likely script and region (CLDR): `zh-HK` for `zh-Hant`, `pt` for
 * `pt-BR`. Undefined where none does.
 */
export function lookupLanguage (tag: string, offered: readonly string[]): string | undefined {
  const desired = canonicalLanguage(tag)
  if (desired === undefined) return undefined
  const placeOf = (range: string): number => offered.findIndex((language) => language.toLowerCase() === range.toLowerCase())
  for (const range of prefixesOf(desired)) {
    const exact = placeOf(range)
    const place = exact < 0 ? likelyFormsOf(range).map(placeOf).find((found) => found >= 0) ?? exact : exact
    if (place >= 0) return offered[place]
  }
  return undefined
}

function localeOf (tag: string): Intl.Locale | undefined {
  try {
    return new Intl.Locale(tag.replaceAll('_', '-'))
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

/** A tag, and what remains of it part by part. A part of one letter belongs to what follows it, and goes with that. */
function prefixesOf (tag: string): string[] {
  const shorter = tag.replace(/(-[a-z0-9])?-[a-z0-9]+$/i, '')
  return shorter === tag ? [tag] : [tag, ...prefixesOf(shorter)]
}

/** Norwegian has a tag for both of its written forms, and one for each. */
const sameLanguage: Readonly<Record<string, string>> = { nb: 'no', nn: 'no', no: 'nb' }

/** A region says which script is likely: in Hong Kong it is that of Taiwan. */
function likelyFormsOf (tag: string): string[] {
  const { language = '', script, region } = localeOf(tag)?.maximize() ?? {}
  if (script === undefined || region === undefined) return []
  const { region: another = region } = localeOf(`${language}-${script}`)?.maximize() ?? {}
  const isUsual = localeOf(language)?.maximize().script === script
  return [
    `${language}-${script}-${region}`,
    `${language}-${script}`,
    `${language}-${region}`,
    ...isUsual ? [] : [`${language}-${another}`],
    ...Object.hasOwn(sameLanguage, tag) ? [sameLanguage[tag] ?? ''] : []
  ]
}
