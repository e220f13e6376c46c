import { Line, withoutControls } from '@dispatch/common'
import { all, serviceNames } from '@dispatch/services'
import { type Static, Type } from 'typebox'
import { AnyJsonObject, CallbackUrl, Timestamp } from './common.ts'
import { NumberCursor, PageLimit } from './query.ts'

const closed = { additionalProperties: false } as const
const nullable = <S extends Parameters<typeof Type.Union>[0][number]>(schema: S, description: string) =>
  Type.Union([schema, Type.Null()], { description })

/** The e-mail address of an account. Upper and lower case are the same. */
export const AccountEmail = Type.String({ format: 'email', maxLength: 254, examples: ['grace@example.com'] })

/** Length in characters. See access/password-rules.ts for the other rules. */
export const passwordLength = { minLength: 10, maxLength: 200 } as const

export const NewPassword = Type.String({
  title: 'Password',
  ...passwordLength,
  pattern: withoutControls,
  description:
    `${passwordLength.minLength} to ${passwordLength.maxLength} characters, not the e-mail address or its first part, no control ` +
    'characters',
  examples: ['correct horse battery']
})

export const RoleName = Type.Enum(['operator', 'admin', 'member'], {
  title: 'Role',
  description: 'member: dispatches. admin: runs the company. operator: runs the platform. Nobody gives a role above their own.',
  examples: ['member']
})

/** What a person may do: run the platform, run their company, or dispatch for it. */
export type Role = Static<typeof RoleName>

export const UsableServices = Type.Array(Type.Enum([...serviceNames, '*']), {
  title: 'UsableServices',
  uniqueItems: true,
  maxItems: 20,
  description: 'The services that the user may use; "*" stands for all.',
  examples: [[all.invoicing.name, all.email.name]]
})

/** The e-mail address and the password of a new account. */
export const NewPasswordAccount = Type.Object({ email: AccountEmail, password: NewPassword }, { ...closed, title: 'NewAccount' })

/** The body of a new user. */
export const NewUserBody = Type.Object({ ...NewPasswordAccount.properties, role: RoleName, services: UsableServices }, {
  ...closed,
  title: 'NewUser'
})
export type NewUserBody = Static<typeof NewUserBody>

/** Changes of a user. Fields that are left out do not change. */
export const UserChanges = Type.Object({
  email: Type.Optional(AccountEmail),
  password: Type.Optional(NewPassword),
  current: Type.Optional(
    Type.String({
      maxLength: 1024,
      description: 'The user\'s present password: required to change your own e-mail address or password.'
    })
  ),
  role: Type.Optional(RoleName),
  services: Type.Optional(UsableServices),
  disabled: Type.Optional(Type.Boolean({ description: 'A disabled user is refused.' }))
}, { ...closed, title: 'UserChanges', minProperties: 1 })
export type UserChanges = Static<typeof UserChanges>

export const UserView = Type.Object({
  id: Type.Integer(),
  email: Type.String(),
  role: RoleName,
  services: Type.Array(Type.String()),
  disabled: Type.Boolean(),
  secondFactor: Type.Boolean({ description: 'The password alone does not sign the user in.' }),
  createdAt: Timestamp
}, { title: 'User' })
export type UserView = Static<typeof UserView>

/** A user, with how many sessions, keys and other ways in an admin can end. */
export const UserDetail = Type.Object({
  ...UserView.properties,
  ways: Type.Optional(Type.Object({
    sessions: Type.Integer({ minimum: 0, description: 'At the console, those that have not expired.' }),
    keys: Type.Integer({ minimum: 0, description: 'Of the API, those that are not revoked.' }),
    factors: Type.Integer({ minimum: 0, description: 'Second factors: apps that make codes, and passkeys.' })
  }, { description: 'How many ways in an admin can end; since version 1.1.0.' }))
}, { title: 'UserDetail' })
export type UserDetail = Static<typeof UserDetail>

/** The body with which a user changes their own password. */
export const PasswordBody = Type.Object({ current: Type.String({ maxLength: 1024, examples: ['demo-password'] }), password: NewPassword }, {
  ...closed,
  title: 'NewPassword'
})
export type PasswordBody = Static<typeof PasswordBody>

const CompanyName = Line(200, { examples: ['Acme'] })
/** Far above any sale, and far below the largest integer that a double holds exactly. */
const maxCredits = 1_000_000_000

/** The body of a new company: its first credits, and its first admin. */
export const NewCompanyBody = Type.Object({
  name: CompanyName,
  credits: Type.Integer({ minimum: 0, maximum: maxCredits, examples: [1000] }),
  admin: NewPasswordAccount
}, { ...closed, title: 'NewCompany' })
export type NewCompanyBody = Static<typeof NewCompanyBody>

const lists = 'Permitted networks (CIDR) or addresses; empty: all.'

/** Networks as an admin or an operator writes them. */
const AddressList = Type.Array(Type.String({ maxLength: 64 }), {
  title: 'AddressList',
  maxItems: 200,
  description: lists,
  examples: [['127.0.0.0/8', '::1', '2001:db8::/32']]
})

/** Changes of a company, by an operator. Fields that are left out do not change. */
export const CompanyChanges = Type.Object({
  name: Type.Optional(CompanyName),
  disabled: Type.Optional(Type.Boolean({ description: 'Every further request of a disabled company\'s users is refused.' })),
  addresses: Type.Optional(AddressList)
}, { ...closed, title: 'CompanyChanges', minProperties: 1 })
export type CompanyChanges = Static<typeof CompanyChanges>

/** Credits to add; a negative amount removes credits. */
export const CreditsBody = Type.Object({
  amount: Type.Integer({
    minimum: -maxCredits,
    maximum: maxCredits,
    not: { const: 0 },
    description: 'a whole number but 0; below 0, credits are taken back',
    examples: [500]
  }),
  reason: Line(200, { description: 'what it is for, on one line', examples: ['Order 4711'] })
}, { ...closed, title: 'CreditsChange' })
export type CreditsBody = Static<typeof CreditsBody>

const Balance = { balance: Type.Integer(), held: Type.Integer({ minimum: 0, description: 'Reserved for running dispatches.' }) }

/** The credits of a company after a change. */
export const BalanceView = Type.Object(Balance, { title: 'Balance' })
export type BalanceView = Static<typeof BalanceView>

export const CompanyView = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  disabled: Type.Boolean(),
  addresses: Type.Array(Type.String(), { description: lists }),
  ...Balance,
  createdAt: Timestamp
}, { title: 'Company' })
export type CompanyView = Static<typeof CompanyView>

/** Changes of a company, by its admin. Fields that are left out do not change. */
export const SettingsBody = Type.Object({
  addresses: Type.Optional(AddressList),
  notifyUrl: Type.Optional(nullable(CallbackUrl, 'The URL that receives callbacks about low credits; null: none.')),
  lowCredit: Type.Optional(
    nullable(Type.Integer({ minimum: 1, maximum: maxCredits }),
      'A callback is sent once when fewer credits than this are free; null: never.')
  ),
  requireSecondFactor: Type.Optional(
    Type.Boolean({ description: 'true: users without a second factor can only set one up. API keys go on.' })
  ),
  force: Type.Optional(Type.Boolean({ description: 'true: also a list of addresses that shuts out the client of this very request.' }))
}, { ...closed, title: 'SettingsChanges', minProperties: 1 })
export type SettingsBody = Static<typeof SettingsBody>

export const SettingsView = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  addresses: Type.Array(Type.String(), { description: lists }),
  notifyUrl: Type.Union([Type.String(), Type.Null()]),
  lowCredit: Type.Union([Type.Integer(), Type.Null()]),
  requireSecondFactor: Type.Boolean()
}, { title: 'Settings' })
export type SettingsView = Static<typeof SettingsView>

const perMinute = (of: string) => Type.Union([Type.Integer({ minimum: 1 }), Type.Null()], { description: `${of}; null: no limit.` })

/** How much the service takes, as its operator has set it. */
export const LimitsView = Type.Object({
  signInsPerMinute: perMinute('Sign-ins, and wrong passwords, of one address'),
  dispatchesPerMinute: perMinute('Dispatches of one user'),
  validationsPerMinute: perMinute('Validations of one user'),
  requestsPerMinute: perMinute('Requests of any kind of one user')
}, { title: 'Limits' })
export type LimitsView = Static<typeof LimitsView>

/** A filter of the audit log. */
export const AuditQuery = Type.Object({
  companyId: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 2_147_483_647, description: 'Another company than one\'s own (operators).' })
  ),
  action: Type.Optional(Type.String({ maxLength: 60, examples: ['user.changed'] })),
  userId: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 2_147_483_647, description: 'The user who made the change, or whose identity was used for it.' })
  ),
  object: Type.Optional(
    Type.String({ maxLength: 200, description: 'A kind of object, or one object: user or user/7.', examples: ['user'] })
  ),
  from: Type.Optional(Type.String({ format: 'iso-8601', description: 'At this time or later.' })),
  to: Type.Optional(Type.String({ format: 'iso-8601', description: 'Before this time.' })),
  limit: PageLimit,
  cursor: NumberCursor
}, closed)
export type AuditQuery = Static<typeof AuditQuery>

/** One change: who made it, from which address, and what was changed. */
export const AuditView = Type.Object({
  id: Type.String(),
  at: Timestamp,
  action: Type.String(),
  object: Type.Object({ kind: Type.String(), id: Type.String() }),
  author: nullable(Type.Object({
    userId: Type.Integer(),
    companyId: Type.Integer(),
    impersonatorId: Type.Optional(Type.Integer({ description: 'The user who acted under this identity.' })),
    keyId: Type.Optional(Type.String({ description: 'The API key that was used.' }))
  }), 'null: the operator at the command line.'),
  address: Type.Optional(Type.String({ description: 'The address of the client. It is not shown for users of the platform.' })),
  requestId: Type.Optional(Type.String()),
  facts: AnyJsonObject
}, { title: 'AuditEntry' })
export type AuditView = Static<typeof AuditView>
