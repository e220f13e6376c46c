import { isRecord, pointer } from '@dispatch/common'
import { cjkLanguageOf, fontPackagesFor } from '../layout/fallback-fonts.ts'
import { facesFor } from '../layout/fonts.ts'
import { characterName, unshowable, UnshowableText } from '../layout/shape.ts'
import type { ResolvedDocument } from '../model/document.ts'
import { RenderError, renderError } from '../model/errors.ts'
import { type Archive, type Pdf, renderPdf } from '../render/pdf.ts'
import type { Making } from './format.ts'

/** A PDF. What no font can show is a RenderError with the places in the data. */
export async function showablePdf (
  document: ResolvedDocument,
  { data, now }: Pick<Making, 'data' | 'now'>,
  archive: Archive | undefined
): Promise<Pdf> {
  try {
    return await renderPdf(document, now, archive)
  } catch (error) {
    throw error instanceof UnshowableText ? unshowableData(error, data(), document) : error
  }
}

/** The places of characters that cannot be shown; the place is the template when the data do not contain them. */
function unshowableData (error: UnshowableText, data: unknown, { style, locale }: ResolvedDocument): RenderError {
  const faces = facesFor(style.font, {}, cjkLanguageOf(locale))
  const problems = textsOf(data, '').flatMap(({ text, at }) => {
    const characters = unshowable(text, faces)
    return characters.length === 0 ? [] : [{ path: at, code: 'unsupported_characters', message: sentence(characters, locale) }]
  })
  return problems.length > 0
    ? new RenderError(problems.slice(0, 100), { cause: error })
    : renderError('', 'unsupported_characters', sentence(error.characters, locale), error)
}

function sentence (characters: readonly string[], locale: string): string {
  const named = characters.slice(0, 20).map(characterName).join(', ')
  const missing = fontPackagesFor(characters, locale)
  const remedy = missing.length === 0
    ? 'there is no font for them'
    : `the operator installs fonts for them with "npm install --ignore-scripts ${
      missing.join(' ')
    }" in the folder of the service, and starts `
      + 'it again'
  return `The PDF cannot show ${named}${characters.length > 20 ? ', …' : ''}: ${remedy}.`
}

function textsOf (value: unknown, at: string): { text: string, at: string }[] {
  if (typeof value === 'string') return [{ text: value, at }]
  if (Array.isArray(value)) return value.flatMap((item, index) => textsOf(item, pointer(at, index)))
  return isRecord(value) ? Object.entries(value).flatMap(([name, field]) => textsOf(field, pointer(at, name))) : []
}
