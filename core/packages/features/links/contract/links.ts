import { Uuid } from '@dispatch/common'
import { AccountEmail, MailLanguage, NewPassword, RoleName, Timestamp, UsableServices, UuidPageQuery } from '@dispatch/contract'
import { type Static, Type } from 'typebox'

const closed = { additionalProperties: false } as const

/** The body of an invitation. */
export const InvitationBody = Type.Object({ email: AccountEmail, role: RoleName, services: UsableServices }, {
  ...closed,
  title: 'NewInvitation'
})
export type InvitationBody = Static<typeof InvitationBody>

/** Without a limit all invitations are listed. */
export const InvitationQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
  cursor: UuidPageQuery.properties.cursor
}, closed)

const invitation = {
  id: Uuid,
  email: Type.String(),
  role: RoleName,
  services: Type.Array(Type.String()),
  invitedBy: Type.Integer({ description: 'The user who has invited, or renewed the invitation last.' }),
  createdAt: Timestamp,
  expiresAt: Timestamp,
  expired: Type.Boolean({ description: 'The link is dead; renew the invitation for another one.' }),
  mail: Type.Union([Type.Enum(['sending', 'sent', 'failed']), Type.Null()], {
    description: 'What became of the mail with the link; null: there is none, or it is not known. sent: a mail server has taken it.'
  })
}

export const InvitationView = Type.Object(invitation, { title: 'Invitation' })
export type InvitationView = Static<typeof InvitationView>

const link = {
  token: Type.Union([Type.String(), Type.Null()], {
    description: 'The secret of the link. It is shown only this once; null: it is mailed.'
  }),
  url: Type.Union([Type.String(), Type.Null()], {
    description: 'The page of the console that takes it; null: it is mailed, or the console is off.'
  })
}

/** An invitation with its link, as only who has made it sees it. */
export const InvitationWithLink = Type.Object({ ...invitation, ...link }, { title: 'InvitationWithLink' })
export type InvitationWithLink = Static<typeof InvitationWithLink>

/** The query of what makes a link. */
export const LinkQuery = Type.Object({
  mailIn: Type.Optional(
    Type.Enum(['en', 'fr'], {
      description: 'The link is mailed to the person in this language, and not shown; 409 where the service mails no links.'
    })
  )
}, closed)

/** A link with which a user chooses another password. */
export const PasswordLinkView = Type.Object({ ...link, expiresAt: Timestamp }, { title: 'PasswordLink' })
export type PasswordLinkView = Static<typeof PasswordLinkView>

const Token = Type.String({ maxLength: 100, description: 'The secret of the link.' })

/** The body with which the holder of a link asks what it is for. */
export const LinkBody = Type.Object({ token: Token }, { ...closed, title: 'LinkToken' })

/** What a link is for, as its holder sees it. */
export const LinkView = Type.Object({
  purpose: Type.Enum(['invitation', 'password'], { description: 'invitation: it makes a user. password: it sets another password.' }),
  company: Type.String(),
  email: Type.String(),
  expiresAt: Timestamp
}, { title: 'Link' })
export type LinkView = Static<typeof LinkView>

/** The body with which the holder of a link chooses a password. */
export const LinkUseBody = Type.Object({ token: Token, password: NewPassword }, { ...closed, title: 'LinkUse' })
export type LinkUseBody = Static<typeof LinkUseBody>

/** The body with which somebody who has forgotten the password asks for a link. */
export const ForgottenBody = Type.Object({
  email: Type.String({ maxLength: 254, examples: ['grace@example.com'] }),
  language: Type.Optional(MailLanguage)
}, { ...closed, title: 'ForgottenPassword' })
export type ForgottenBody = Static<typeof ForgottenBody>

export const ForgottenView = Type.Object({
  offered: Type.Boolean({ description: 'Whoever has forgotten the password can have a link mailed.' })
}, { title: 'PasswordLinks' })
export type ForgottenView = Static<typeof ForgottenView>
