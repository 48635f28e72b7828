"""All mutators, and the kinds they make."""

from agent_loop.benchgen.mutators import calls, flow, operators, values
from agent_loop.benchgen.mutators.site import Mutator

MUTATORS: tuple[Mutator, ...] = (
    operators.comparison,
    operators.boolean,
    operators.negation,
    operators.arithmetic,
    operators.augmented,
    flow.condition,
    flow.guard,
    flow.leaving,
    flow.handler,
    flow.raised,
    flow.statement,
    values.off_by_one,
    values.one_more,
    values.constant,
    values.default,
    values.slices,
    values.variable,
    calls.swapped_arguments,
    calls.lost_argument,
    calls.sibling,
    calls.copies,
    calls.wrapper,
    calls.unpacking,
)
KINDS = (
    "comparison_boundary", "comparison_flipped", "and_or_swapped", "operand_dropped",
    "not_removed", "sign_lost", "arithmetic_operator", "operands_swapped", "order_of_operations",
    "augmented_operator", "condition_negated", "guard_removed", "break_continue",
    "return_dropped", "exception_narrowed", "exception_widened", "exception_type", "call_removed",
    "update_removed", "assignment_removed", "off_by_one", "constant_changed", "default_changed",
    "slice_bound", "slice_bound_lost", "wrong_variable", "arguments_swapped", "argument_dropped",
    "sibling_called", "copy_missing", "wrapper_dropped", "unpacking_swapped",
)  # fmt: skip
