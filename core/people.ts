/**
 * `@dispatch/core/people`: what a feature that lets people in uses of the core, by name.
 */
export { normaliseEmail } from './access/account.ts'
export { requireGoodPassword } from './access/password-rules.ts'
export { coversServices, rolesUpTo } from './access/permissions.ts'
export { secretForm } from './access/secret.ts'
export { domainOf, isOfOther, refuseDomainOfOther } from './accounts/domains.ts'
export type { MailContent } from './accounts/link-mail.ts'
export type { PasswordPolicy } from './accounts/password-policy.ts'
export { requireGrantable, requireOwned } from './accounts/users.ts'
export { findCompany } from './store/tenants/companies.ts'
export { domainHolder } from './store/tenants/domains.ts'
export { setPassword, unlessTaken, userRow, voidSessions } from './store/tenants/users.ts'
