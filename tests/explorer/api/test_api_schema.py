"""The API held to its own document by schemathesis: a slice, the same each time, of what it can think of."""

import hypothesis
import schemathesis
from schemathesis.config import SchemathesisConfig

from explorer.api.http import make_api
from tests.explorer.api.conftest import KEY

EXAMPLES = 8
# A request that fits the schema may still name missing things, or ask nothing of the papers.
TAKEN = ["2xx", "401", "404", "422", "429", "503"]
CONFIG = {
    "checks": {"positive_data_acceptance": {"expected-statuses": TAKEN}},
    # Hundreds for each address: for a run by hand.
    "phases": {"coverage": {"enabled": False}},
}


schema = schemathesis.openapi.from_dict(make_api().openapi(), config=SchemathesisConfig.from_dict(CONFIG))


@schema.parametrize()
@hypothesis.settings(
    max_examples=EXAMPLES,
    derandomize=True,
    deadline=None,
    suppress_health_check=list(hypothesis.HealthCheck),
    phases=[hypothesis.Phase.explicit, hypothesis.Phase.generate],
)
def test_every_reply_is_as_the_document_says(case, program, address):
    case.call_and_validate(base_url=address, headers={"Authorization": f"Bearer {KEY}"}, timeout=120)
