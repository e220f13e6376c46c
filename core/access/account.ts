/** What a person may do: run the platform, run their company, or dispatch for it. */
export type Role = 'operator' | 'admin' | 'member'

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
  /** Grows with every change of the password: what was issued under an older one is void. */
  passwordVersion: number
  /** The user or their company is disabled. */
  disabled: boolean
  /** Networks (CIDR) from which users of the company may call; none: from everywhere. */
  addresses: readonly string[]
}

/** Where accounts are read. Every call answers with the present state: nothing here keeps an account for later. */
export type Accounts = {
  /** The users of this address, one of a company at most; first whose password was set last. `email` is normalised. */
  byEmail: (email: string) => Promise<readonly Account[]>
  byId: (userId: number) => Promise<Account | undefined>
}

/** What a key of a program is for: a test key reaches nothing real. */
export const keyModes = ['live', 'test'] as const
export type KeyMode = typeof keyModes[number]

/** Who acts in a request. */
export type Actor = Pick<Account, 'userId' | 'companyId' | 'email' | 'role' | 'services'> & {
  /** The user who acts under this identity, for the audit log. */
  impersonatorId?: number
  /** The key with which a program acts for the user; their services are those that both may use. */
  key?: { id: string, mode: KeyMode }
}

/** The form in which e-mail addresses are stored and compared: one address, whatever its case or Unicode composition. */
export function normaliseEmail (email: string): string {
  return email.normalize('NFC').toLowerCase()
}
