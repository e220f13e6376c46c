import { Type } from 'typebox'
import { LoginCode } from './second-factor.ts'

/** The body of `POST /auth`. `username` is the e-mail address of the account. */
export const Login = Type.Object({
  username: Type.String({ maxLength: 254, description: 'The e-mail address of the account.', examples: ['demo@example.com'] }),
  password: Type.String({ maxLength: 1024, examples: ['demo-password'] }),
  totp: LoginCode
}, { title: 'Login', additionalProperties: false })

/** The answer to a login and to a refresh. */
export const LoginResponse = Type.Object({
  data: Type.Object({
    token: Type.String({ description: 'An access token for `Authorization: Bearer`, good for 120 minutes.' }),
    userId: Type.Integer({ examples: [2] }),
    companyId: Type.Integer({ examples: [2] })
  })
}, { title: 'Session' })
