import { type Found, sharedTemplates, templateName, type Visit, withQuery, wordFor } from '@dispatch/plugins/console'
import { wordsOf } from './words.ts'

/** The templates with a text in their name. */
export async function findTemplates ({ words, api }: Visit, q: string): Promise<Found[]> {
  const { data } = await api.read<{ data: { id: number, name: string, service: string }[] }>(
    withQuery('/api/v1/templates', { q, limit: '6' })
  )
  const linkTo = ({ id, name }: { id: number, name: string }): Found => ({
    kind: wordsOf(words).templates,
    title: templateName(words, { id, name }),
    path: `/console/templates/${String(id)}`
  })
  const shared = sharedTemplates(words, q).filter(({ id }) => !data.some((one) => one.id === id))
  return [...shared.map(linkTo), ...data.map((one) => ({ ...linkTo(one), about: wordFor(words, 'service', one.service) }))]
}
