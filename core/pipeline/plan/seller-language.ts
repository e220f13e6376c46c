import { isRecord, type JsonObject } from '@dispatch/common'
import type { StoredTemplate } from '../templates.ts'

/** The languages of sellers by their countries. A country with several, such as Belgium, is not here. */
const languages: Readonly<Record<string, string>> = {
  AT: 'de',
  DE: 'de',
  ES: 'es',
  FR: 'fr',
  IT: 'it',
  LI: 'de',
  MC: 'fr',
  NL: 'nl',
  SM: 'it'
}

/**
 * The data, with the language of the seller's country where they choose none, and the template has it and leaves the choice to them
 * (`language`, from version 1.1.0 of the API on).
 */
export function inSellerLanguage ({ source: { locale, texts = {} } }: Pick<StoredTemplate, 'source'>, data: JsonObject): JsonObject {
  const { seller, language } = data
  const country = isRecord(seller) ? seller['country'] : undefined
  const own = typeof country === 'string' ? languages[country] : undefined
  return language === undefined && own !== undefined && Object.hasOwn(texts, own) && /\{[{%][^}]*\blanguage\b/.test(locale)
    ? { ...data, language: own }
    : data
}
