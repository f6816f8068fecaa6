"""Language models behind one small protocol: endpoints, local models, a cache and a budget around them."""
