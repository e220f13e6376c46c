import { fill, type Words } from '../language/language.ts'
import type { UserView } from '../session/api.ts'
import type { Visit } from '../session/visit.ts'

type Users = { data: UserView[], nextCursor: string | null }

/**
 * The users of the reader's company by their numbers, as far as the reader sees them; a large company has more than a page reads. Those of
 * the company with `companyId` too, for operators.
 */
export type People = { emails: ReadonlyMap<number, string>, hasMore: boolean }

export async function readPeople ({ api, actor: { role, userId, email } }: Visit, companyId = ''): Promise<People> {
  if (role === 'member') return { emails: new Map([[userId, email]]), hasMore: false }
  const path = `/api/v1/companies/${encodeURIComponent(companyId)}/users?limit=100`
  const [{ data, nextCursor }, others] = await Promise.all([
    api.read<Users>('/api/v1/users?limit=100'),
    role === 'operator' && companyId !== '' ? api.send<Users>('GET', path) : undefined
  ])
  const all = others?.ok === true ? [...data, ...others.body.data] : data
  return { emails: new Map(all.map((user) => [user.id, user.email])), hasMore: nextCursor !== null }
}

/** The e-mail address of a user, else the number. */
export function nameIn (words: Words, { emails }: People, id: number): string {
  return emails.get(id) ?? fill(words.userOfNumber, { id })
}

/** The users as choices of a form. */
export function choicesOf ({ emails }: People): { value: string, label: string }[] {
  return [...emails].map(([id, email]) => ({ value: String(id), label: email })).toSorted((a, b) => a.label.localeCompare(b.label))
}
