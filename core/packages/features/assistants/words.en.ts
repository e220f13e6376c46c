/** The words of proposals in English. */
export const words = {
  proposals: 'Proposals',
  proposalOf: 'Proposal of {at}',
  proposalsIntro: 'What assistants want to send. Nothing of it leaves before a person has seen it here and sent it.',
  proposalsNone: 'No assistant has proposed anything.',
  proposalsHow: 'How an assistant proposes something',
  proposalService: 'Service',
  proposalBy: 'Proposed with a key of user',
  proposalReason: 'What the assistant says',
  proposalAt: 'Proposed',
  proposalStatus: 'Status',
  proposalRequest: 'The whole request',
  proposalDocument: 'The document',
  proposalPlan: 'What sending it does',
  proposalSend: 'Send it',
  proposalUnseen:
    'It sends uploaded files that cannot be shown here ({files}), so it cannot be sent here. Send it yourself from “Send”, or ' +
    'decline it.',
  proposalDeclineIntro: 'It is not sent, and cannot be sent later. Its assistant can propose it again.',
  proposalDecline: 'Decline',
  proposalDispatch: 'What it was sent as',
  proposal_open: 'Waits for a person',
  proposal_sent: 'Sent',
  proposal_declined: 'Declined',
  proposal_expired: 'Expired',
  auditProposalSent: 'A proposal of an assistant was sent',
  auditProposalDeclined: 'A proposal of an assistant was declined'
}
