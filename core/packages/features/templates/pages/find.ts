import { type Found, type Visit, withQuery, wordFor } from '@dispatch/plugins/console'
import { wordsOf } from './words.ts'

/** The templates with a text in their name. */
export async function findTemplates ({ words, api }: Visit, q: string): Promise<Found[]> {
  const { data } = await api.read<{ data: { id: number, name: string, service: string }[] }>(
    withQuery('/api/v1/templates', { q, limit: '6' })
  )
  return data.map(({ id, name, service }) => ({
    kind: wordsOf(words).templates,
    title: name,
    path: `/console/templates/${String(id)}`,
    about: wordFor(words, 'service', service)
  }))
}
