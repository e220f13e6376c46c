import { fill, type Words } from '../language/language.ts'
import type { UserView } from '../session/api.ts'
import type { Visit } from '../session/visit.ts'

/** The users of the reader's company by their numbers, as far as the reader sees them; a large company has more than a page reads. */
export type People = { emails: ReadonlyMap<number, string>, hasMore: boolean }

export async function readPeople ({ api, actor: { role, userId, email } }: Visit): Promise<People> {
  if (role === 'member') return { emails: new Map([[userId, email]]), hasMore: false }
  const { data, nextCursor } = await api.read<{ data: UserView[], nextCursor: string | null }>('/api/v1/users?limit=100')
  return { emails: new Map(data.map((user) => [user.id, user.email])), hasMore: nextCursor !== null }
}

/** The e-mail address of a user, else the number. */
export function nameIn (words: Words, { emails }: People, id: number): string {
  return emails.get(id) ?? fill(words.userOfNumber, { id })
}

/** The users as choices of a form. */
export function choicesOf ({ emails }: People): { value: string, label: string }[] {
  return [...emails].map(([id, email]) => ({ value: String(id), label: email })).toSorted((a, b) => a.label.localeCompare(b.label))
}
