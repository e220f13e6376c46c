import type { Database } from '@dispatch/database'
import type { Accounts, Actor } from '../access/account.ts'
import { isKeyValid } from '../store/api-keys.ts'

/** Who has asked for something, as it was recorded. `permitted`: the services that they could use then. */
export type RecordedActor = {
  companyId: number
  userId: number
  impersonatorId: number | null
  key: { id: string, mode: 'live' | 'test', scopes: readonly string[] } | null
  permitted: readonly string[]
}

/** The same with what they may still do: undefined where the user, the impersonator or the API key lets in no more. */
export async function recordedActor (
  { accounts, database }: { accounts: Accounts, database: Database },
  { companyId, userId, impersonatorId, key, permitted }: RecordedActor
): Promise<Actor | undefined> {
  const account = await accounts.byId(userId)
  if (account === undefined || account.disabled) return undefined
  if (impersonatorId !== null && ((await accounts.byId(impersonatorId))?.disabled ?? true)) return undefined
  if (key !== null && !await isKeyValid(database, companyId, key.id)) return undefined
  const { email, role, services } = account
  const both = services.includes('*') ? permitted : permitted.filter((name) => services.includes(name))
  return {
    userId,
    companyId,
    email,
    role,
    services: permitted.includes('*') ? services : both,
    ...impersonatorId === null ? {} : { impersonatorId },
    ...key === null ? {} : { key: key as Required<Actor>['key'] }
  }
}
