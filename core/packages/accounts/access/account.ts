import { normalForm } from '@dispatch/common'
import type { KeyMode, KeyScope, Role } from '@dispatch/contract'

/** A user as the store reads it at this moment. */
export type Account = {
  userId: number
  companyId: number
  /** As {@link normaliseEmail} gives it. */
  email: string
  role: Role
  /** Codes of the services that the user may use; `*` stands for all. */
  services: readonly string[]
  /** In the PHC string format. */
  passwordHash: string
  /** Grows with every change of the password or the second factor: what was issued under an older one is void. */
  passwordVersion: number
  /** The user or their company is disabled. */
  disabled: boolean
  /** The password alone does not sign the user in. */
  secondFactor: boolean
  /** The company demands a second factor. */
  secondFactorRequired: boolean
  /** Networks (CIDR) from which users of the company may call; none: from everywhere. */
  addresses: readonly string[]
}

/** A user who may be let in: whether the password is right, and the user enabled, is known. */
export type Person = Omit<Account, 'passwordHash' | 'passwordVersion' | 'disabled'>

/** Reads accounts. Every call returns the current state: nothing is cached here. */
export type Accounts = {
  /** The users with this e-mail address, at most one per company; the most recently set password first. `email` is normalised. */
  byEmail: (email: string) => Promise<readonly Account[]>
  byId: (userId: number) => Promise<Account | undefined>
}

/** Who makes a request. */
export type Actor = Pick<Account, 'userId' | 'companyId' | 'email' | 'role' | 'services'> & {
  /** The user who impersonates this one, for the audit log. */
  impersonatorId?: number
  /** The API key with which a program acts for the user. `services` then holds those that both the key and the user may use. */
  key?: { id: string, mode: KeyMode, scopes: readonly KeyScope[] }
  /** The company demands a second factor, and the person has none yet: they may set one up, and nothing else. */
  lacksSecondFactor?: true
  /** The session at the console through which the person acts. */
  sessionId?: string
  /** When the person has proved last who they are, by password, second factor, passkey or sign-on; a program never does. */
  provedAt?: Date
  /** The password version of a person when they were let in: a key or a passkey is made under the same one only. */
  passwordVersion?: number
}

/** The form in which e-mail addresses are stored and compared. It ignores case and Unicode composition. */
export function normaliseEmail (email: string): string {
  return normalForm(email).toLowerCase()
}
