"""Design questions: which chunks for which size, which bandwidth where, when the optimum pays."""

from themis_opt.designing.parting import Comparison, when
from themis_opt.designing.provisioning import Provisioned, provision
from themis_opt.designing.tuning import TunedSize, tune

__all__ = ["Comparison", "Provisioned", "TunedSize", "provision", "tune", "when"]
