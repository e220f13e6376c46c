import { fill, type Words } from '../language/language.ts'
import type { UserView } from '../session/api.ts'
import type { Visit } from '../session/visit.ts'

/** The users of the reader's company by their numbers, as far as the reader sees them. */
export type People = ReadonlyMap<number, string>

export async function readPeople ({ api, actor: { role, userId, email } }: Visit): Promise<People> {
  if (role === 'member') return new Map([[userId, email]])
  const { data } = await api.read<{ data: UserView[] }>('/api/v1/users?limit=100')
  return new Map(data.map((user) => [user.id, user.email]))
}

/** The e-mail address of a user, else the number. */
export function nameIn (words: Words, people: People, id: number): string {
  return people.get(id) ?? fill(words.userOfNumber, { id })
}

/** The users as choices of a form. */
export function choicesOf (people: People): { value: string, label: string }[] {
  return [...people].map(([id, email]) => ({ value: String(id), label: email })).toSorted((a, b) => a.label.localeCompare(b.label))
}
