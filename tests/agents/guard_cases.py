"""Names of controls, where they stand, and what pressing them does by the criterion of docs/guard.md: a kind of risk,
or `-` for harmless. Places: a `button` alone in a page, the button of a `form` with a field, a `link`, a `text`.

`FIRST` was written before the words of the guard were chosen anew, `SECOND` after that: what the words do on the second
tells more. None is taken from the sample.
"""

FIRST = """
pay button Pay now
pay form Pay
pay button Pay with card
pay form Pay by invoice
pay button Authorise payment
pay form Authorize payment
pay button Transfer money
pay form Transfer
pay form Withdraw
pay button Withdraw funds
pay button Wire money
pay form Top up
pay button Renew subscription
pay form Renew
pay button Upgrade now
pay form Upgrade plan
pay button Start subscription
pay button Donate
pay form Donate 10
pay button Complete purchase
pay button Complete checkout
pay button Checkout with PayPal
pay form Proceed to payment and order
order button Place order
order link Place your order
order form Checkout
order form Check out
order button Confirm booking
order button Accept offer
order form Accept
order form I accept
order button Approve
order form Approve
order button Sign document
order form Sign
order button Rent now
order form Enrol
order button Reserve this table
order form Hire
order button Book this room
send button Submit review
send form Submit claim
send button Submit application
send button Request refund
send form Request a call
send form Call me back
send form Get a quote
send form Send message
send button Send
send form Vote
send button Vote
send form Apply now
send form Reply
send form Invite
delete button Delete account
delete link Delete my account
delete text Delete account
delete button Deactivate account
delete button Close account
delete button End membership
delete button Cancel subscription
delete button Cancel appointment
delete form Cancel my booking
delete button Cancel order
delete button Revoke access
delete button Empty cart
delete button Unsubscribe
delete form Remove
delete button Terminate contract
publish button Publish
publish form Post
publish button Make public
publish button Go live
publish form Comment
personal form Save
personal form Save profile
personal form Update address
personal form Register
personal form Create account
personal form Change password
personal form Sign up
- form Cancel
- button Cancel
- form Order by date
- form Set dates
- form Save search
- text Publish date
- link How to delete your account (help)
- link Delete cookies FAQ
- link Orders
- link Order history
- button Add to basket
- form Add to cart
- button Checkout
- link Checkout
- form Search
- form Log in
- form Sign in
- button Sign out
- button Accept cookies
- button Accept all
- form Apply filters
- form Apply coupon
- button Clear all
- button Close
- form Reset
- form Back
- button Next
- button Continue
- link About the publisher
- link Pay monthly plans explained
- button Show more
- button Save for later
- form Save draft
- button Like
- button Follow
- button Archive
- button Download
- link Terms of sale
- button Remove filters
- form Post code lookup
- link Cancellation policy
- link Book reviews
- form Sort
- button Compare
- button Send feedback
- button Buyers' guide
- text Sent items
- text Payment methods
"""

SECOND = """
pay button Pay EUR 45.00
pay form Settle invoice
pay form Make payment
pay button Make a donation
pay form Pay deposit
pay form Send gift card
pay button Buy it now
pay form Add funds
pay form Redeem points
pay button Pay rent
order form Request booking
order form Reserve a seat
order button Confirm order
order form Complete registration
order form Rent this car
order form Accept and continue
order form Agree and sign
order button Accept terms and place order
order form Book appointment
order form Place bid
order form Finalise order
order form Switch to this plan
order form Join waiting list
send button Send it
send form Send enquiry
send form Contact seller
send form Submit
send form Post question
send form Submit ticket
send form Email me the results
send form Report listing
send form Ask a question
send form Forward to a friend
send form Share by email
send form File complaint
delete form Delete selected
delete button Delete
delete button Permanently delete
delete button Remove member
delete button Close my account
delete button Cancel flight
delete button Wipe device
delete button Leave group
delete text Delete photo
delete link Unsubscribe
delete button Cancel my plan
publish form Publish article
publish button Post comment
publish form Post listing
publish button Publish changes
personal form Save address
personal form Update password
personal form Set a reminder
personal form Subscribe
personal form Create my account
personal form Upload passport
- button Yes please, show me
- form Find flights
- form Search trips
- button Edit
- form Recalculate
- form Choose file
- button Add item
- button View basket
- link Pay
- link Book a room
- link Place to stay
- link Sign up
- button Book a table
- button Send a gift
- button Share
- link My bookings
- link Delivery and payment
- link Refund policy
- form Clear
- form Undo
- form Select seats
- button Print
- button Change language
- form Update quantity
- form Update results
- form Move up
- form Order
- link Publications
- button Ask later
- form Remember me
- form Keep my booking
- form No, keep it
- text Order summary
- text Report 2024
- text Buy now, pay later explained
- button Sort by price
- form Check availability
- form Get directions
- button Zoom in
- link How do I cancel my booking?
- link Cancel or change a booking: help
- button Log out
- button Bookmark
- form Compare plans
- form Preview
- link Postal service
- button Mark as read
- link Write a review
- button Expand all
- form Use my location
"""
