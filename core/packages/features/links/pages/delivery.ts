import { type Api, type Html, type LinkMailView, radioField } from '@dispatch/plugins/console'
import type { Words } from './words.ts'

/** Whether links can be mailed. */
export async function mailsLinks (own: Api): Promise<boolean> {
  return (await own.read<LinkMailView>('/api/v1/link-mail')).available
}

/** How a link reaches its person: mailed, in one of the languages, unless it is to be shown. */
export function deliveryField (words: Words, value: string = words.code): Html {
  const options = [
    { value: 'en', label: words.linkMailEnglish },
    { value: 'fr', label: words.linkMailFrench },
    { value: '', label: words.linkMailShown }
  ]
  return radioField({ name: 'mailIn', label: words.linkMailHow, value, options })
}

/** The query with which a link is made as a form with {@link deliveryField} says. */
export function deliveryIn (body: URLSearchParams): string {
  const language = body.get('mailIn') ?? ''
  return language === '' ? '' : `?mailIn=${encodeURIComponent(language)}`
}
